import { Injectable, type OnApplicationShutdown, type LoggerService } from '@nestjs/common';
import { pino, type Logger, type LoggerOptions } from 'pino';
import { Env, EnvError } from '../../config/env.js';
import { currentSpan, type ServiceSpan } from '../tracing/spans.js';
import { requestContext, type RequestContext } from './request-context.js';
import { scrub } from './scrub.js';
import { exitStatusOf } from '../../config/cli.js';
import { StartError } from '../../config/start.error.js';

/** Values that may stand in a log line. Objects are left out on purpose: only named values get logged. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

const STACK_MAX_LENGTH = 4_000;
const STDOUT = 1;
const BUFFER_BYTES = 8_192;
const FLUSH_INTERVAL_MS = 200;
const FORMAT: LoggerOptions = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  hooks: { streamWrite: scrub },
};

/**
 * JSON log lines on standard output, with the request id and trace id of the request being served, and the ids of
 * the span under way. It takes flat
 * fields only, and every finished line is scrubbed of bearer tokens and credentials in URLs. Lines of level info and
 * below may be written a moment later, in one go with others; warnings and errors are written at once.
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

  /** @param error its name, code and the frames of its stack are logged, of its message nothing */
  error(message: string, error: unknown, fields: LogFields = {}): void {
    this.logger.error(inContext({ ...fields, ...errorFields(error) }), message);
    this.destination.flushSync();
  }

  /** Writes the lines that were held back, before the process ends without having stopped. */
  flush(): void {
    this.destination.flushSync();
  }

  /** From now on every line is written at once: the process may end any time. */
  onApplicationShutdown(): void {
    this.isBuffering = false;
    clearInterval(this.flushTimer);
    this.destination.flushSync();
  }
}

/** Writes a line of level fatal where there is no `Log`, because the settings cannot be read or nothing was started. */
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

/** The ids of a request: ours, the caller's where there is one, and that of the trace. */
export function requestFields(context: RequestContext | undefined): LogFields {
  const { requestId, callerRequestId, traceId } = context ?? {};
  return { requestId, callerRequestId, traceId };
}

/** The ids of a span under the names that collectors of logs know (OpenTelemetry, "Trace Context in non-OTLP Log Formats"). */
export function spanFields(span: ServiceSpan | undefined): LogFields {
  const context = span?.spanContext();
  return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
}

/** What may be logged of any error: its name, its code and the frames of its stack. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) {
    return error === undefined ? {} : { errorName: typeof error };
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

/**
 * Ends a service that could not start. Log lines say why, one for each wrong setting. The status is 78 (EX_CONFIG) when
 * settings are wrong, otherwise 1.
 */
export function endWithStartFailure(error: unknown): never {
  if (error instanceof EnvError) {
    error.problems.forEach((problem) => logFatal('wrong configuration', { problem }));
  } else {
    logFatal('start failed', error instanceof StartError ? { reason: error.message } : errorFields(error));
  }
  process.exit(exitStatusOf(error));
}
