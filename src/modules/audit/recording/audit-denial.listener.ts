import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { DenialListener } from '../../../common/auth/auth.guards.js';
import type { Principal } from '../../../common/user/principal.js';
import { AuditOutcome } from '../model/audit.types.js';
import { AuditedAction } from './audited-action.js';
import { DenialLimit } from './denial-limit.js';
import { RefusedCalls } from './refused-calls.js';

/** Records calls of `@Audited` routes that were refused for want of a permission, as far as the limit of refusals goes. */
@Injectable()
export class AuditDenialListener extends DenialListener {
  constructor(
    private readonly reflector: Reflector,
    private readonly refused: RefusedCalls,
    private readonly limit: DenialLimit,
  ) {
    super();
  }

  override denied(context: ExecutionContext, principal: Principal, permission: string): void {
    const action = this.reflector.get(AuditedAction, context.getHandler());
    if (action !== undefined) {
      const request = context.switchToHttp().getRequest<Request>();
      void this.record(principal, request, { action, outcome: AuditOutcome.Denied, details: { permission } });
    }
  }

  private async record(...refusal: Parameters<RefusedCalls['record']>): Promise<void> {
    const [principal] = refusal;
    if (this.limit.admits(principal)) {
      await this.refused.record(...refusal);
    }
  }
}
