import type { z } from 'zod';
import { discoveryLimits } from '../discovery.limits.js';
import { parsedJson } from '#engine/json';
import { Agent, request } from 'undici';
import { toProbeError } from '../probes/net/probe-failure.js';
import { failureOfStatus, SourceError } from '../model/failures.js';

const CODES = { UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large' } as const;

/** How a source is asked. */
interface SourceAddress {
  /** Scheme, host and port, and a path before all others if any. */
  base: string;
  headers: Readonly<Record<string, string>>;
  /** Certificates (PEM) that are trusted instead of those of the system. */
  ca?: string;
}

/** One answer, as a schema describes it. @param path with its query @throws SourceError */
export type AskSource = <Value>(path: string, schema: z.ZodType<Value>) => Promise<Value>;

/** Asks one source for JSON. Redirects are not followed: they would carry a token elsewhere. */
export async function askingSource<Result>(
  { base, headers, ca }: SourceAddress,
  signal: AbortSignal,
  work: (ask: AskSource) => Promise<Result>,
): Promise<Result> {
  const dispatcher = new Agent({
    connect: ca === undefined ? {} : { ca },
    maxResponseSize: discoveryLimits.sourceBytes,
    // The signal is the one clock.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const asked = { dispatcher, signal, headers: { accept: 'application/json', ...headers } };
  try {
    return await work(async (path, schema) => {
      const { success, data } = schema.safeParse(parsedJson(await textAt(`${base}${path}`, asked)));
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
  asked: { dispatcher: Agent; signal: AbortSignal; headers: Record<string, string> },
): Promise<string> {
  try {
    const { statusCode, body } = await request(url, asked);
    if (statusCode === 200) {
      return await body.text();
    }
    // A body that is cut off reports that as an error, which nobody else waits for.
    body.on('error', () => undefined).destroy();
    const isRedirect = statusCode >= 300 && statusCode < 400;
    throw new SourceError(isRedirect ? 'redirect' : (failureOfStatus(statusCode) ?? 'http_error'));
  } catch (error) {
    throw error instanceof SourceError
      ? error
      : new SourceError(toProbeError(error, asked.signal, CODES).failure);
  }
}
