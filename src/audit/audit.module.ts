import { Global, Module } from '@nestjs/common';
import { DenialListener } from '../platform/auth/auth.guards.js';
import { AuditController } from './reading/audit.controller.js';
import { RefusedCalls } from './recording/audited.decorator.js';
import { AuditRepository } from './storage/audit.repository.js';
import { AuditService } from './recording/audit.service.js';
import { AuditSubjectsService } from './recording/audit-subjects.service.js';

/** The audit log. Global, because the permission guard reports denials to it and `@Audited` routes report failures. */
@Global()
@Module({
  controllers: [AuditController],
  providers: [
    AuditRepository,
    AuditService,
    AuditSubjectsService,
    RefusedCalls,
    { provide: DenialListener, useExisting: RefusedCalls },
  ],
  exports: [AuditService, AuditSubjectsService, DenialListener, RefusedCalls],
})
export class AuditModule {}
