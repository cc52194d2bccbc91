import { Global, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { DenialListener } from '../../common/auth/denial-listener.js';
import { AuditController } from './audit.controller.js';
import { AuditDenialListener } from './audit-denial.listener.js';
import { AuditInterceptor } from './audit.interceptor.js';
import { AuditRepository } from './audit.repository.js';
import { AuditService } from './audit.service.js';
import { AuditSubjectsService } from './audit-subjects.service.js';
import { DenialLimit } from './denial-limit.js';
import { RefusedCalls } from './refused-calls.js';

/** The audit log. Global, because the permission guard reports denials to it. */
@Global()
@Module({
  controllers: [AuditController],
  providers: [
    AuditRepository,
    AuditService,
    AuditSubjectsService,
    DenialLimit,
    RefusedCalls,
    { provide: DenialListener, useClass: AuditDenialListener },
    { provide: APP_INTERCEPTOR, useClass: AuditInterceptor },
  ],
  exports: [AuditService, AuditSubjectsService, DenialListener],
})
export class AuditModule {}
