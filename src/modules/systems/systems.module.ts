import { Module } from '@nestjs/common';
import { AppsModule } from '../apps/apps.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { SystemSecrets } from './system-secrets.js';
import { SystemsController } from './systems.controller.js';
import { SystemsRepository } from './systems.repository.js';
import { SystemsService } from './systems.service.js';

/** Registers systems and shows them. */
@Module({
  imports: [AppsModule, AuditModule],
  controllers: [SystemsController],
  providers: [SystemsRepository, SystemsService, SystemSecrets],
  exports: [SystemsService],
})
export class SystemsModule {}
