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

/** Route metadata: the audited action of the route. */
export const AuditedAction = Reflector.createDecorator<AuditAction>();

/** Records requests to `@Audited` routes that failed or lacked a permission. */
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

  /** Records a denial, up to the limit of denials. */
  override denied(context: ExecutionContext, principal: Principal, permission: string): void {
    const action = this.reflector.get(AuditedAction, context.getHandler());
    if (action !== undefined && this.audit.admitsDenial(principal)) {
      const request = context.switchToHttp().getRequest<Request>();
      void this.record(principal, request, { action, outcome: AuditOutcome.Denied, details: { permission } });
    }
  }

  /** Records a failed request. Never throws: a failure is only logged. */
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
      this.log.error('the subject of an audit event could not be determined', error, { action, outcome });
    }
  }
}

/**
 * Records failed requests to `@Audited` routes, except malformed requests (400), requests for missing resources (404), and outages of
 * the service's own database (503).
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
          // Denials that the guard cannot detect, such as a permission required by a part of the body.
          this.refused.denied(context, principal, error.permission);
        } else if (principal !== undefined && !isExcluded(error)) {
          const details = { code: error instanceof DomainError ? error.code : 'INTERNAL' };
          await this.refused.record(principal, request, { action, outcome: AuditOutcome.Error, details });
        }
        throw error;
      }),
    );
  }
}

function isExcluded(error: unknown): boolean {
  return [InvalidRequestError, NotFoundError, UnavailableError].some((kind) => error instanceof kind);
}

/** Marks a route whose denied and failed requests are audited. Its service records successful ones. */
export const Audited = (action: AuditAction): MethodDecorator =>
  applyDecorators(AuditedAction(action), UseInterceptors(AuditInterceptor));
