import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { DenialListener } from '../../../common/auth/auth.guards.js';
import { Log } from '../../../common/logging/log.js';
import type { Principal } from '../../../common/user/principal.js';
import { AuditOutcome, type AuditAction } from '../model/audit.types.js';
import { AuditSubjectsService } from './audit-subjects.service.js';
import { AuditService, type AuditEntry } from './audit.service.js';

/** Metadata of a route: the action of the audit log that its calls are. */
export const AuditedAction = Reflector.createDecorator<AuditAction>();

/** Records calls of `@Audited` routes that failed, or were refused for want of a permission. */
@Injectable()
export class RefusedCalls extends DenialListener {
  constructor(
    private readonly reflector: Reflector,
    private readonly subjects: AuditSubjectsService,
    private readonly audit: AuditService,
    private readonly log: Log,
  ) {
    super();
  }

  /** As far as the limit of refusals goes. */
  override denied(context: ExecutionContext, principal: Principal, permission: string): void {
    const action = this.reflector.get(AuditedAction, context.getHandler());
    if (action !== undefined && this.audit.admitsDenial(principal)) {
      const request = context.switchToHttp().getRequest<Request>();
      void this.record(principal, request, { action, outcome: AuditOutcome.Denied, details: { permission } });
    }
  }

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
