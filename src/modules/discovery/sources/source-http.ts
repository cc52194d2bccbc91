import { Agent, request, type Dispatcher } from 'undici';
import { toOutboundError, type OutboundFailure } from '../../../common/outbound/outbound.error.js';
import type { ComponentSourceName } from '../model/component.types.js';
import { SourceError, type SourceFailure } from '../model/source.error.js';

const FAILURES: Readonly<Partial<Record<OutboundFailure, SourceFailure>>> = {
  dns: 'dns',
  refused: 'refused',
  tls: 'tls',
  timeout: 'timeout',
  too_large: 'too_large',
  protocol: 'protocol',
};

/** How a source is asked. */
export interface SourceHttpOptions {
  source: ComponentSourceName;
  /** Scheme, host and port, and a path before all others if any. */
  base: string;
  headers: Readonly<Record<string, string>>;
  /** Certificates (PEM) that are trusted instead of those of the system. */
  ca?: string;
  /** Bytes of one answer. */
  maxBytes: number;
  signal: AbortSignal;
}

/** Asks one source for JSON. Redirects are not followed: they would carry a token elsewhere. */
export class SourceHttp {
  private readonly agent: Agent;

  constructor(private readonly options: SourceHttpOptions) {
    const { ca, maxBytes } = options;
    this.agent = new Agent({
      connect: ca === undefined ? {} : { ca },
      maxResponseSize: maxBytes,
      // The signal is the one clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /**
   * The JSON of one answer.
   * @param path with its query
   * @throws SourceError
   */
  async get(path: string): Promise<unknown> {
    const { source, base, headers, signal } = this.options;
    try {
      const response = await request(`${base}${path}`, {
        dispatcher: this.agent,
        headers: { accept: 'application/json', ...headers },
        signal,
      });
      return await this.bodyOf(response);
    } catch (error) {
      throw error instanceof SourceError ? error : new SourceError(source, failureOf(error, signal));
    }
  }

  /** Cuts every connection. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async bodyOf({ statusCode, body }: Dispatcher.ResponseData): Promise<unknown> {
    const { source } = this.options;
    const failure = statusFailure(statusCode);
    if (failure !== undefined) {
      // A body that is cut off reports that as an error, which nobody else waits for.
      body.on('error', () => undefined).destroy();
      throw new SourceError(source, failure);
    }
    const text = await body.text();
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw new SourceError(source, 'protocol');
    }
  }
}

function statusFailure(status: number): SourceFailure | undefined {
  switch (status) {
    case 200:
      return undefined;
    case 401:
      return 'auth';
    case 403:
      return 'forbidden';
    default:
      return status >= 300 && status < 400 ? 'redirect' : 'http_error';
  }
}

function failureOf(error: unknown, signal: AbortSignal): SourceFailure {
  if (signal.aborted) {
    return 'timeout';
  }
  if ((error as { code?: unknown }).code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return 'too_large';
  }
  return FAILURES[toOutboundError(error).failure] ?? 'network';
}
