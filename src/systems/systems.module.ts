import { Module } from '@nestjs/common';
import { ChangeConditions } from '../platform/http/conditional-requests.js';
import { AppsModule } from '../apps/apps.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { SystemConnectionsService } from './lookups/system-connections.service.js';
import { SystemSecrets } from './secrets/system-secrets.js';
import { SystemsImportService } from './delivery/systems-import.service.js';
import { SystemsController } from './registration/systems.controller.js';
import { ToolReadingsService } from './lookups/tool-readings.service.js';
import { SystemsRepository } from './storage/systems.repository.js';
import { SystemCredentialsService } from './registration/system-credentials.service.js';
import { SystemsService } from './registration/systems.service.js';

@Module({
  imports: [AppsModule, AuditModule],
  controllers: [SystemsController],
  providers: [
    ChangeConditions,
    SystemConnectionsService,
    SystemsImportService,
    SystemsRepository,
    SystemsService,
    SystemCredentialsService,
    SystemSecrets,
    ToolReadingsService,
  ],
  exports: [SystemConnectionsService, SystemsImportService, SystemsService, ToolReadingsService],
})
export class SystemsModule {}
