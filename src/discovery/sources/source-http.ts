import type { z } from 'zod';
import { discoveryLimits } from '../discovery.limits.js';
import { parsedJson } from '#engine/json';
import { Agent, request } from 'undici';
import { toProbeError } from '../probes/net/probe-failure.js';
import { failureOfStatus, SourceError } from '../model/failures.js';

const CODES = { UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large' } as const;

/** Address and headers of a source. */
interface SourceAddress {
  /** Scheme, host and port, optionally with a path prefix. */
  base: string;
  headers: Readonly<Record<string, string>>;
  /** Certificates (PEM) to trust instead of those of the system. */
  ca?: string;
}

/** Requests a path and validates the response with a schema. @param path path and query @throws SourceError */
export type AskSource = <Value>(path: string, schema: z.ZodType<Value>) => Promise<Value>;

/** Runs work that requests JSON from a source. Redirects are not followed, since they would send a token elsewhere. */
export async function askingSource<Result>(
  { base, headers, ca }: SourceAddress,
  signal: AbortSignal,
  work: (ask: AskSource) => Promise<Result>,
): Promise<Result> {
  const dispatcher = new Agent({
    connect: ca === undefined ? {} : { ca },
    maxResponseSize: discoveryLimits.sourceBytes,
    // Only the signal limits the time.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const options = { dispatcher, signal, headers: { accept: 'application/json', ...headers } };
  try {
    return await work(async (path, schema) => {
      const { success, data } = schema.safeParse(parsedJson(await textAt(`${base}${path}`, options)));
      if (!success) {
        throw new SourceError('protocol');
      }
      return data;
    });
  } finally {
    await dispatcher.destroy();
  }
}

async function textAt(
  url: string,
  options: { dispatcher: Agent; signal: AbortSignal; headers: Record<string, string> },
): Promise<string> {
  try {
    const { statusCode, body } = await request(url, options);
    if (statusCode === 200) {
      return await body.text();
    }
    // Destroying the body emits an error that nothing else handles.
    body.on('error', () => undefined).destroy();
    const isRedirect = statusCode >= 300 && statusCode < 400;
    throw new SourceError(isRedirect ? 'redirect' : (failureOfStatus(statusCode) ?? 'http_error'));
  } catch (error) {
    throw error instanceof SourceError
      ? error
      : new SourceError(toProbeError(error, options.signal, CODES).failure);
  }
}
