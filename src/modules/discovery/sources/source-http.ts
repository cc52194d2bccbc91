import type { z } from 'zod';
import { discoveryLimits } from '../discovery.limits.js';
import { parsedJson } from '../../../common/json.js';
import { Agent, request, type Dispatcher } from 'undici';
import { toProbeError } from '../probes/net/probe-failure.js';
import type { ComponentSourceName } from '../model/component.types.js';
import { failureOfStatus, SourceError } from '../model/failures.js';

const CODES = { UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large' } as const;

/** How a source is asked. */
interface SourceHttpOptions {
  source: ComponentSourceName;
  /** Scheme, host and port, and a path before all others if any. */
  base: string;
  headers: Readonly<Record<string, string>>;
  /** Certificates (PEM) that are trusted instead of those of the system. */
  ca?: string;
  signal: AbortSignal;
}

/** Asks one source for JSON. Redirects are not followed: they would carry a token elsewhere. */
export class SourceHttp {
  private readonly agent: Agent;

  constructor(private readonly options: SourceHttpOptions) {
    const { ca } = options;
    this.agent = new Agent({
      connect: ca === undefined ? {} : { ca },
      maxResponseSize: discoveryLimits.sourceBytes,
      // The signal is the one clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** One answer, as a schema describes it. @param path with its query @throws SourceError */
  async get<Value>(path: string, schema: z.ZodType<Value>): Promise<Value> {
    const { source, base, headers, signal } = this.options;
    try {
      const response = await request(`${base}${path}`, {
        dispatcher: this.agent,
        headers: { accept: 'application/json', ...headers },
        signal,
      });
      return await this.bodyOf(response, schema);
    } catch (error) {
      throw error instanceof SourceError
        ? error
        : new SourceError(source, toProbeError(error, signal, CODES).failure);
    }
  }

  /** Cuts every connection. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async bodyOf<Value>(
    { statusCode, body }: Dispatcher.ResponseData,
    schema: z.ZodType<Value>,
  ): Promise<Value> {
    const { source } = this.options;
    if (statusCode !== 200) {
      // A body that is cut off reports that as an error, which nobody else waits for.
      body.on('error', () => undefined).destroy();
      const isRedirect = statusCode >= 300 && statusCode < 400;
      throw new SourceError(source, isRedirect ? 'redirect' : (failureOfStatus(statusCode) ?? 'http_error'));
    }
    const { success, data } = schema.safeParse(parsedJson(await body.text()));
    if (!success) {
      throw new SourceError(source, 'protocol');
    }
    return data;
  }
}
