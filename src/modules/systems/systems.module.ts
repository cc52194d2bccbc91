import { Module } from '@nestjs/common';
import { AppsModule } from '../apps/apps.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { ResourceDefinitionsService } from './resource-definitions.service.js';
import { SystemConnectionsService } from './system-connections.service.js';
import { SystemSecretsController } from './system-secrets.controller.js';
import { SystemSecrets } from './system-secrets.js';
import { SystemStatesService } from './system-states.service.js';
import { SystemsImportService } from './systems-import.service.js';
import { SystemsController } from './systems.controller.js';
import { SystemsRepository } from './systems.repository.js';
import { SystemsService } from './systems.service.js';

/** Registers systems and shows them. */
@Module({
  imports: [AppsModule, AuditModule],
  controllers: [SystemsController, SystemSecretsController],
  providers: [
    ResourceDefinitionsService,
    SystemConnectionsService,
    SystemsImportService,
    SystemsRepository,
    SystemsService,
    SystemSecrets,
    SystemStatesService,
  ],
  exports: [
    ResourceDefinitionsService,
    SystemConnectionsService,
    SystemsImportService,
    SystemsService,
    SystemStatesService,
  ],
})
export class SystemsModule {}
