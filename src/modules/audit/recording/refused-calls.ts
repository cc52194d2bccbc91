import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '../../../common/user/principal.js';
import { Log } from '../../../common/logging/log.js';
import { AuditSubjectsService } from './audit-subjects.service.js';
import { AuditService, type AuditEntry } from './audit.service.js';

/** Records calls of `@Audited` routes that were refused or failed. */
@Injectable()
export class RefusedCalls {
  constructor(
    private readonly subjects: AuditSubjectsService,
    private readonly audit: AuditService,
    private readonly log: Log,
  ) {}

  /** Never throws: a failure is logged and does not change the caller's answer. */
  async record(
    principal: Principal,
    request: Request,
    refusal: Pick<AuditEntry, 'action' | 'outcome' | 'details'>,
  ): Promise<void> {
    const { action, outcome } = refusal;
    try {
      const subject = await this.subjects.find(action, request.params);
      if (subject !== null) {
        const details = { ...subject.details, ...refusal.details };
        await this.audit.recordAlone(principal, { ...subject, action, outcome, details });
      }
    } catch (error) {
      this.log.error('what an audit event is about was not found', error, { action, outcome });
    }
  }
}
