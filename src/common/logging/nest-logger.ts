import type { LoggerService } from '@nestjs/common';
import type { Log } from './log.js';

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
    const error = message instanceof Error ? message : rest.find((item) => item instanceof Error);
    this.logger.error(message instanceof Error ? 'framework error' : text(message), error, {});
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
