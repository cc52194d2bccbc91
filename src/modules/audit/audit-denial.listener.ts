import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { DenialListener } from '../../common/auth/denial-listener.js';
import type { Principal } from '../../common/auth/principal.js';
import { audited } from './audit-request.js';
import { AuditService } from './audit.service.js';
import { AuditOutcome } from './audit.types.js';
import { Audited } from './audited.decorator.js';

/** Records calls of `@Audited` routes that were refused for want of a permission. */
@Injectable()
export class AuditDenialListener extends DenialListener {
  constructor(
    private readonly reflector: Reflector,
    private readonly audit: AuditService,
  ) {
    super();
  }

  override denied(context: ExecutionContext, principal: Principal, permission: string): void {
    const action = this.reflector.get(Audited, context.getHandler());
    if (action !== undefined) {
      const request = context.switchToHttp().getRequest<Request>();
      const entry = { ...audited(request), action, outcome: AuditOutcome.Denied, details: { permission } };
      void this.audit.recordAlone(principal, entry);
    }
  }
}
