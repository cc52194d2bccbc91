import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { finalize, tap, type Observable } from 'rxjs';
import { recordedSpan, withSpan } from '../tracing/active-span.js';

/**
 * A span for what a controller does, apart from what comes before it (guards, the body, its check) and after it (the answer). Only where there
 * are traces: an interceptor costs every request some time.
 */
@Injectable()
export class HandlerSpansInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const name = `${context.getClass().name}.${context.getHandler().name}`;
    const span = recordedSpan()?.child(name, { attributes: { 'code.function.name': name } });
    return span === undefined
      ? next.handle()
      : withSpan(span, () => next.handle()).pipe(
          tap({ error: (error: unknown) => span.recordException(error) }),
          finalize(() => span.end()),
        );
  }
}
