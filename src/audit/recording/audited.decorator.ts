import { Reflector } from '@nestjs/core';
import { type AuditAction, AuditOutcome } from '../model/audit.types.js';
import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  applyDecorators,
  UseInterceptors,
} from '@nestjs/common';
import type { Request } from 'express';
import { catchError, type Observable } from 'rxjs';
import { PermissionDeniedError } from '../../platform/auth/auth.errors.js';
import { principalOf, type Principal } from '../../platform/user/principal.js';
import {
  DomainError,
  InvalidRequestError,
  NotFoundError,
  UnavailableError,
} from '../../platform/errors/domain.error.js';
import { DenialListener } from '../../platform/auth/auth.guards.js';
import { Log } from '../../platform/observability/logging/log.js';
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

/**
 * Records calls of `@Audited` routes that failed. Left out are malformed requests, those for what does not exist, and
 * those that an outage of our own database kept from being done (503).
 */
@Injectable()
class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly refused: RefusedCalls,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const action = this.reflector.get(AuditedAction, context.getHandler());
    const request = context.switchToHttp().getRequest<Request>();
    return next.handle().pipe(
      catchError(async (error: unknown) => {
        const principal = principalOf(request);
        if (principal !== undefined && error instanceof PermissionDeniedError) {
          // What the guard cannot know, such as a permission that a part of the body asks for.
          this.refused.denied(context, principal, error.permission);
        } else if (principal !== undefined && !isLeftOut(error)) {
          const details = { code: error instanceof DomainError ? error.code : 'INTERNAL' };
          await this.refused.record(principal, request, { action, outcome: AuditOutcome.Error, details });
        }
        throw error;
      }),
    );
  }
}

function isLeftOut(error: unknown): boolean {
  return [InvalidRequestError, NotFoundError, UnavailableError].some((kind) => error instanceof kind);
}

/** Marks a route whose refused and failed calls belong in the audit log. What succeeds is recorded by its service. */
export const Audited = (action: AuditAction): MethodDecorator =>
  applyDecorators(AuditedAction(action), UseInterceptors(AuditInterceptor));
