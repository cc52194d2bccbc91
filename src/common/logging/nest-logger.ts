import type { LoggerService } from '@nestjs/common';
import type { Log } from './log.js';

/**
 * Contexts in which Nest logs an error that it also throws at whoever starts the service. It is told there, once and
 * without its message, which names addresses.
 */
const THROWN_AS_WELL: ReadonlySet<unknown> = new Set(['ExceptionHandler', 'NestApplication']);

/** Sends what the framework logs through our logger. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Log) {}

  log(message: unknown, context?: unknown): void {
    this.logger.info(text(message), { context: text(context) });
  }

  warn(message: unknown, context?: unknown): void {
    this.logger.warn(text(message), { context: text(context) });
  }

  error(message: unknown, ...rest: unknown[]): void {
    if (THROWN_AS_WELL.has(rest.at(-1))) {
      return;
    }
    const error = message instanceof Error ? message : rest.find((item) => item instanceof Error);
    this.logger.error(message instanceof Error ? 'framework error' : text(message), error, {});
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
