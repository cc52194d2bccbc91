import { Global, Module } from '@nestjs/common';
import { DenialListener } from '../../common/auth/auth.guards.js';
import { ApplicationAuditController } from './reading/application-audit.controller.js';
import { AuditController } from './reading/audit.controller.js';
import { AuditDenialListener } from './recording/audit-denial.listener.js';
import { AuditRepository } from './storage/audit.repository.js';
import { AuditService } from './recording/audit.service.js';
import { AuditSubjectsService } from './recording/audit-subjects.service.js';
import { DenialLimit } from './recording/denial-limit.js';
import { RefusedCalls } from './recording/refused-calls.js';

/** The audit log. Global, because the permission guard reports denials to it, and `@Audited` routes what failed. */
@Global()
@Module({
  controllers: [ApplicationAuditController, AuditController],
  providers: [
    AuditRepository,
    AuditService,
    AuditSubjectsService,
    DenialLimit,
    RefusedCalls,
    { provide: DenialListener, useClass: AuditDenialListener },
  ],
  exports: [AuditService, AuditSubjectsService, DenialListener, RefusedCalls],
})
export class AuditModule {}
