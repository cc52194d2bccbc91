import { Injectable, type OnApplicationShutdown, type LoggerService } from '@nestjs/common';
import { pino, type Logger, type LoggerOptions } from 'pino';
import { Env, EnvError } from '../../config/env.js';
import { currentSpan, type ServiceSpan } from '../tracing/spans.js';
import { errorFields } from './error-fields.js';
import { requestContext, type RequestContext } from './request-context.js';
import { scrub } from './scrub.js';
import { exitStatusOf } from '../../config/cli.js';
import { StartError } from '../../config/start.error.js';

/** Named values of a log line. Objects are not allowed, so that nothing is logged by accident. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

const STDOUT = 1;
const BUFFER_BYTES = 8_192;
const FLUSH_INTERVAL_MS = 200;
const FORMAT: LoggerOptions = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  hooks: { streamWrite: scrub },
};

/**
 * Writes JSON log lines to standard output, with the ids of the current request, trace and span. Every line is scrubbed of
 * bearer tokens and credentials in URLs. Lines of level info and below are buffered; warnings and errors are written at once.
 */
@Injectable()
export class Log implements OnApplicationShutdown {
  private readonly logger: Logger;
  private readonly destination = pino.destination({ fd: STDOUT, sync: true, minLength: BUFFER_BYTES });
  private readonly flushTimer = setInterval(() => this.destination.flushSync(), FLUSH_INTERVAL_MS).unref();
  private isBuffering = true;

  constructor(env: Env) {
    this.logger = pino({ ...FORMAT, level: env.get('LOG_LEVEL') }, this.destination);
  }

  info(message: string, fields: LogFields = {}): void {
    this.logger.info(inContext(fields), message);
    if (!this.isBuffering) {
      this.destination.flushSync();
    }
  }

  warn(message: string, fields: LogFields = {}): void {
    this.logger.warn(inContext(fields), message);
    this.destination.flushSync();
  }

  /** @param error see `errorFields` for what is logged of it */
  error(message: string, error: unknown, fields: LogFields = {}): void {
    this.logger.error(inContext({ ...fields, ...errorFields(error) }), message);
    this.destination.flushSync();
  }

  /** Writes the buffered lines, for a process that is about to exit without shutting down. */
  flush(): void {
    this.destination.flushSync();
  }

  /** Stops buffering, because the process may exit at any time. */
  onApplicationShutdown(): void {
    this.isBuffering = false;
    clearInterval(this.flushTimer);
    this.destination.flushSync();
  }
}

/** Writes a line of level fatal when there is no `Log`, because the settings are wrong or the start failed. */
function logFatal(message: string, fields: LogFields): void {
  pino({ ...FORMAT, level: 'fatal' }, pino.destination({ fd: STDOUT, sync: true })).fatal(fields, message);
}

function inContext(fields: LogFields): LogFields {
  const context = requestContext();
  const span = currentSpan();
  return context === undefined && span === undefined
    ? fields
    : { ...requestFields(context), ...spanFields(span), ...fields };
}

/** Returns the ids of a request: the service's own, the caller's if it sent one, and the trace id. */
export function requestFields(context: RequestContext | undefined): LogFields {
  const { requestId, callerRequestId, traceId } = context ?? {};
  return { requestId, callerRequestId, traceId };
}

/** Returns the ids of a span under the names that log collectors know (OpenTelemetry, "Trace Context in non-OTLP Log Formats"). */
export function spanFields(span: ServiceSpan | undefined): LogFields {
  const context = span?.spanContext();
  return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
}

/** Contexts in which Nest logs an error that it also throws. The start logs it once, without the addresses in its message. */
const THROWN_AS_WELL: ReadonlySet<unknown> = new Set(['ExceptionHandler', 'NestApplication']);

/** Forwards the framework's log lines to `Log`. */
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

/** Logs why the service could not start, one line per wrong setting, and exits with 78 (EX_CONFIG) for wrong settings, otherwise 1. */
export function logErrorAndExit(error: unknown): never {
  if (error instanceof EnvError) {
    error.problems.forEach((problem) => logFatal('wrong configuration', { problem }));
  } else {
    logFatal('start failed', error instanceof StartError ? { reason: error.message } : errorFields(error));
  }
  process.exit(exitStatusOf(error));
}
