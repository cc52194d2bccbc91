import { Injectable } from '@nestjs/common';
import { pino, type Logger } from 'pino';
import { Env } from '../../config/env.js';
import { requestContext } from '../http/request-context.js';
import { scrub } from './scrub.js';

/** Values that may stand in a log line. Objects are left out on purpose: only what is named here gets logged. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

const STACK_MAX_LENGTH = 4_000;

/**
 * JSON log lines on standard output, with the request id and trace id of the request being served. It takes flat
 * fields only, and every text is scrubbed of bearer tokens and credentials in URLs.
 */
@Injectable()
export class Log {
  private readonly logger: Logger;

  constructor(env: Env) {
    this.logger = pino({
      level: env.get('LOG_LEVEL'),
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
    });
  }

  info(message: string, fields: LogFields = {}): void {
    this.logger.info(clean(fields), scrub(message));
  }

  warn(message: string, fields: LogFields = {}): void {
    this.logger.warn(clean(fields), scrub(message));
  }

  /** @param error its name, code and stack are logged, of its message only what scrubbing leaves */
  error(message: string, error: unknown, fields: LogFields = {}): void {
    this.logger.error(clean({ ...fields, ...describe(error) }), scrub(message));
  }
}

function clean(fields: LogFields): Record<string, unknown> {
  const context = requestContext();
  const all = {
    ...(context && { requestId: context.requestId, traceId: context.traceparent.split('-')[1] }),
    ...fields,
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name, typeof value === 'string' ? scrub(value) : value]),
  );
}

function describe(error: unknown): LogFields {
  if (!(error instanceof Error)) {
    return { errorName: typeof error };
  }
  const { code } = error as { code?: unknown };
  const cause = error.cause instanceof Error ? error.cause.name : undefined;
  return {
    errorName: error.name,
    errorCode: typeof code === 'string' ? code : undefined,
    errorCause: cause,
    // Driver messages may quote values; the frames below the first line cannot.
    stack: framesOf(error),
  };
}

function framesOf(error: Error): string {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return frames.join('\n').slice(0, STACK_MAX_LENGTH);
}
