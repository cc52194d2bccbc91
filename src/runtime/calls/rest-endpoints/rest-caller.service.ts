import {
  LASTING,
  NOT_REACHED,
  OutboundError,
  type OutboundFailure,
} from '../../../platform/outbound/outbound.error.js';
import { restLimits } from './rest.limits.js';
import { CallNotMadeError, WorkflowFailedError } from '../workflows/model/workflows.errors.js';
import { backoff, type RetryPolicy, withRetries } from '../../../platform/concurrency/retry.js';
import { Env } from '../../../platform/config/env.js';
import { Injectable } from '@nestjs/common';
import { configuredOutbound, outboundClient } from '../../../platform/outbound/configured-outbound.js';
import type { OutboundClient } from '../../../platform/outbound/outbound.client.js';
import type { OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import { DialThread } from '../../../platform/outbound/thread/dial-thread.js';
import type { TlsMaterial } from '../../../platform/tls/tls-material.js';
import type {
  ServiceAccount,
  SystemCredentials,
} from '../../../systems/mcp-connection/model/connection-test.types.js';
import { ServiceAccountTokensService } from '../../../systems/mcp-connection/service-account-tokens.service.js';
import { readAnswer, type RestAnswer } from './rest-answer.js';
import type { RestRequest } from './rest-request.js';
import { SpanKind } from '@opentelemetry/api';
import { currentSpan, inSpan } from '../../../platform/observability/tracing/spans.js';

/** Failures before a byte of the request was sent. */
const NEVER_SENT: ReadonlySet<OutboundFailure> = new Set([...NOT_REACHED, 'busy']);
/** Statuses after which a retry may succeed. */
const TRANSIENT_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Failed call with its consequences. */
export class RestFailure extends Error {
  override readonly name = 'RestFailure';

  private constructor(
    /** Outcome code for readers of the run. */
    readonly outcome: string,
    readonly failure: WorkflowFailedError,
    /** Whether the call certainly had no effect. */
    readonly hadNoEffect: boolean,
    /** Whether a retry may succeed. */
    readonly isTransient: boolean,
    /** HTTP status of an unsuccessful answer. */
    readonly status?: number,
  ) {
    super(outcome);
  }

  /** Failure of an unsuccessful answer. */
  static ofStatus(status: number): RestFailure {
    const isRefusal = status < 500 && status !== 408;
    const doubt = isRefusal ? '' : ' Whether the call had an effect is not known.';
    const message = `The system answered with status ${status}.${doubt}`;
    const failure = new WorkflowFailedError('REST_STATUS', message);
    return new RestFailure(`HTTP_${status}`, failure, isRefusal, TRANSIENT_STATUS.has(status), status);
  }

  /** Failure of a call that cannot be made, even with a retry. @param message for readers of the run */
  static notMade(message: string): RestFailure {
    return new RestFailure('NOT_MADE', new WorkflowFailedError('REST_CALL_FAILED', message), true, false);
  }

  /** Failure of a call without an access token. @param message without text from the token endpoint */
  static ofToken(message: string): RestFailure {
    const text = `No access token could be obtained for the service account of the system. ${message}`;
    return new RestFailure('TOKEN', new WorkflowFailedError('REST_CALL_FAILED', text), true, true);
  }

  /** Converts an error of a call. @throws the error itself if it is not an error of a call */
  static of(error: unknown): RestFailure {
    if (error instanceof RestFailure) {
      return error;
    }
    if (error instanceof WorkflowFailedError) {
      return new RestFailure(error.code, error, false, false);
    }
    if (!(error instanceof OutboundError)) {
      throw error;
    }
    const neverSent = NEVER_SENT.has(error.failure);
    return new RestFailure(
      error.failure.toUpperCase(),
      failureOf(error.failure, neverSent),
      neverSent,
      !LASTING.has(error.failure),
    );
  }

  /** Returns the error for the call journal, which may repeat calls without effect. */
  toJournal(): Error {
    return this.hadNoEffect ? new CallNotMadeError(this.failure, this.outcome) : this.failure;
  }
}

function failureOf(failure: OutboundFailure, neverSent: boolean): WorkflowFailedError {
  if (failure === 'too_large') {
    const message = `The answer of the system is larger than ${restLimits.maxResponseBytes} bytes.`;
    return new WorkflowFailedError('REST_RESPONSE_INVALID', message);
  }
  const known = neverSent ? 'It was not sent' : 'Whether it had an effect is not known';
  return new WorkflowFailedError('REST_CALL_FAILED', `The call of the system failed: ${failure}. ${known}.`);
}

/** Methods that may be sent twice (RFC 9110, section 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);
const UNAUTHORIZED = 401;

/** Credentials and TLS settings for calls of a system. */
interface SystemAccess {
  readonly credentials: SystemCredentials;
  readonly tls?: TlsMaterial;
}

/** Whether a method is idempotent. */
export function isIdempotent(method: string): boolean {
  return IDEMPOTENT.has(method);
}

/** Calls endpoints of REST systems through the guarded client. */
@Injectable()
export class RestCallerService {
  private readonly outbound: OutboundClient;

  constructor(
    private readonly tokens: ServiceAccountTokensService,
    thread: DialThread,
    env: Env,
  ) {
    this.outbound = outboundClient(configuredOutbound(env), { thread });
  }

  /**
   * Calls an endpoint. Retries transient failures if the call had no effect or its method is idempotent.
   * @throws RestFailure; the reason of the signal
   */
  async call(request: RestRequest, connection: SystemAccess, signal: AbortSignal): Promise<RestAnswer> {
    const policy: RetryPolicy = {
      retries: restLimits.maxRetries,
      recover: (error) =>
        error instanceof RestFailure &&
        error.isTransient &&
        (error.hadNoEffect || isIdempotent(request.method)),
      delayMs: (retry) => backoff(retry, { baseMs: restLimits.retryDelayMs, maxMs: Infinity }, 1),
      signal,
    };
    return withRetries(policy, async (retries) => {
      if (retries > 0) {
        signal.throwIfAborted();
      }
      return asRestSpan(request, (traced) => this.once(traced, connection, signal));
    });
  }

  /** @throws RestFailure; the reason of the signal */
  private async once(
    request: RestRequest,
    { credentials, tls }: SystemAccess,
    signal: AbortSignal,
  ): Promise<RestAnswer> {
    const bytes = restLimits.maxResponseBytes;
    const limits = { deadlineMs: request.timeoutMs, maxResponseBytes: bytes, maxTotalBytes: bytes };
    const send = (operation: OutboundOperation): Promise<RestAnswer> =>
      this.send(operation, request, credentials, signal);
    try {
      return await this.outbound.run(limits, send, tls);
    } catch (error) {
      signal.throwIfAborted();
      throw RestFailure.of(error);
    }
  }

  /** Sends a request; a rejected access token is renewed once. */
  private async send(
    operation: OutboundOperation,
    { method, url, headers, body, credentials: written }: RestRequest,
    credentials: SystemCredentials,
    signal: AbortSignal,
  ): Promise<RestAnswer> {
    const sent = [...written];
    for (let renewed = false; ; renewed = true) {
      const token = await this.tokenFor(operation, credentials, url);
      sent.push(...(token === undefined ? [] : [token]));
      const init = {
        method,
        headers: { ...headers, ...this.credentialHeaders(credentials, token) },
        body,
        signal,
      };
      const response = await operation.fetch(url, init);
      if (response.ok) {
        const removal = this.tokens.removalOf(credentials, sent);
        return await readAnswer(response, removal);
      }
      await response.body?.cancel();
      const isToken = token !== undefined && credentials.type === 'SERVICE_ACCOUNT';
      if (response.status !== UNAUTHORIZED || !isToken || renewed) {
        throw RestFailure.ofStatus(response.status);
      }
      this.tokens.drop(tokenRequest(credentials, url, operation), token);
    }
  }

  private async tokenFor(
    operation: OutboundOperation,
    credentials: SystemCredentials,
    url: URL,
  ): Promise<string | undefined> {
    if (credentials.type !== 'SERVICE_ACCOUNT') {
      return undefined;
    }
    try {
      return await this.tokens.get(tokenRequest(credentials, url, operation), operation);
    } catch (error) {
      throw RestFailure.ofToken(this.tokens.failureOf(error));
    }
  }

  /** Returns headers in lower case, like those of nodes. @throws RestFailure when an API key or a header is not set */
  private credentialHeaders(
    credentials: SystemCredentials,
    token: string | undefined,
  ): Record<string, string> {
    const own = this.tokens.ownHeaders(credentials);
    if (own === undefined) {
      const isKey = credentials.type === 'API_KEY' && credentials.apiKey === '';
      throw RestFailure.notMade(`${isKey ? 'The API key' : 'A header'} of the system was never set.`);
    }
    const headers = Object.entries(own).map(([name, value]) => [name.toLowerCase(), value]);
    return {
      ...Object.fromEntries(headers),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
  }
}

function tokenRequest(
  credentials: ServiceAccount,
  url: URL,
  { tls }: OutboundOperation,
): Parameters<ServiceAccountTokensService['get']>[0] {
  return { ...credentials, resource: url.origin, tls };
}

/**
 * Makes a call in a span (OpenTelemetry Semantic Conventions, "HTTP client") and propagates the trace to the system. Path and query
 * may contain data, so the span has only the server address.
 * @param call gets the request with a traceparent header, unless the node sets its own
 */
export function asRestSpan(
  request: RestRequest,
  call: (request: RestRequest) => Promise<RestAnswer>,
): Promise<RestAnswer> {
  const { method, url } = request;
  const attributes = {
    'http.request.method': method,
    'server.address': url.hostname,
    'server.port': Number(url.port) || undefined,
  };
  return inSpan(method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const traceparent = currentSpan()?.traceparent;
    const headers = traceparent === undefined ? request.headers : { traceparent, ...request.headers };
    try {
      const answer = await call({ ...request, headers });
      span?.setAttributes({ 'http.response.status_code': answer.status });
      return answer;
    } catch (error) {
      if (error instanceof RestFailure) {
        span?.setAttributes({ 'http.response.status_code': error.status }).fail(error.outcome);
      }
      throw error;
    }
  });
}
