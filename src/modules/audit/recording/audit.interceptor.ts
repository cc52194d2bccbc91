import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { catchError, type Observable } from 'rxjs';
import { PermissionDeniedError } from '../../../common/auth/auth.errors.js';
import { DenialListener } from '../../../common/auth/auth.guards.js';
import { principalOf } from '../../../common/user/principal.js';
import {
  DomainError,
  InvalidRequestError,
  NotFoundError,
  UnavailableError,
} from '../../../common/errors/domain.error.js';
import { AuditOutcome } from '../model/audit.types.js';
import { AuditedAction } from './audited-action.js';
import { RefusedCalls } from './refused-calls.js';

/**
 * Records calls of `@Audited` routes that failed. Malformed requests and those for what does not exist are left out: there
 * is nothing that anything could have been done to. So are those that an outage of our own database kept from being done
 * (503): it would be asked once more when it can do the least.
 */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly refused: RefusedCalls,
    private readonly denials: DenialListener,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const action = this.reflector.get(AuditedAction, context.getHandler());
    const request = context.switchToHttp().getRequest<Request>();
    return next.handle().pipe(
      catchError(async (error: unknown) => {
        const principal = principalOf(request);
        if (principal !== undefined && error instanceof PermissionDeniedError) {
          // What the guard cannot know, such as a permission that a part of the body asks for.
          this.denials.denied(context, principal, error.permission);
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
