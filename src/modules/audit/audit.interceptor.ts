import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { catchError, type Observable } from 'rxjs';
import { principalOf } from '../../common/auth/principal.js';
import { DomainError, InvalidRequestError } from '../../common/errors/domain.error.js';
import { audited } from './audit-request.js';
import { AuditService } from './audit.service.js';
import { AuditOutcome } from './audit.types.js';
import { Audited } from './audited.decorator.js';

/**
 * Records calls of `@Audited` routes that failed. Malformed requests are left out: they name nothing that anybody could
 * have wanted to do.
 */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly audit: AuditService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const action = this.reflector.get(Audited, context.getHandler());
    if (action === undefined) {
      return next.handle();
    }
    const request = context.switchToHttp().getRequest<Request>();
    return next.handle().pipe(
      catchError(async (error: unknown) => {
        const principal = principalOf(request);
        if (principal !== undefined && !(error instanceof InvalidRequestError)) {
          const details = { code: error instanceof DomainError ? error.code : 'INTERNAL' };
          await this.audit.recordAlone(principal, {
            ...audited(request),
            action,
            outcome: AuditOutcome.Error,
            details,
          });
        }
        throw error;
      }),
    );
  }
}
