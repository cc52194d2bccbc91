import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { catchError, type Observable } from 'rxjs';
import { ConflictError, NotFoundError } from '../../common/errors/domain.error.js';
import { requestContext } from '../../common/logging/request-context.js';
import { Database } from '../database.js';

/**
 * A 404 or 409 that comes of what a server knew before another one took over would tell a caller that what was acknowledged to him is not
 * there. Such an answer is 503, which he repeats. A write cannot be wrong: that server takes none.
 */
@Injectable()
export class RefusalCheckInterceptor implements NestInterceptor {
  constructor(private readonly database: Database) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(catchError((error: unknown) => this.confirm(error)));
  }

  /** @throws the error, or DatabaseUnavailableError in its place */
  private async confirm(error: unknown): Promise<never> {
    const { receivedAt } = requestContext() ?? {};
    if (receivedAt !== undefined && (error instanceof NotFoundError || error instanceof ConflictError)) {
      await this.database.demandWriterSince(receivedAt);
    }
    throw error;
  }
}
