import { type Agent, request } from 'undici';
import type { DialledResponse, ThreadDialer } from './outbound.types.js';
import type { TlsMaterial } from '../tls/tls-material.js';
import { OutboundError } from './outbound.error.js';
import { SERVICE_NAME, SERVICE_VERSION } from '../service-version.js';

/** Sockets of one or more operations that use the same certificates. */
export class KeptSockets {
  /** @param opening aborts tunnels that are being opened */
  constructor(
    readonly agent: Agent,
    readonly tls: TlsMaterial | undefined,
    private readonly opening: AbortController,
    /** Opens TLS connections in another thread. @default in this thread */
    readonly tlsDialer?: ThreadDialer,
  ) {}

  /** Closes all sockets, including those in use. Safe to call twice. */
  async close(): Promise<void> {
    this.opening.abort(new OutboundError('closed'));
    await this.agent.destroy();
  }
}

const KEEPS_METHOD = new Set([301, 302, 307, 308]);
const SEE_OTHER = 303;

/**
 * Returns the target of a redirect, or undefined for any other response. A redirect must keep the method (RFC 9110,
 * section 15.4) and the origin, so that neither credentials nor a body reach another party.
 * @throws OutboundError `redirect` for any other redirect
 */
export function redirectTarget(
  { status, headers }: Pick<DialledResponse, 'status' | 'headers'>,
  from: URL,
  method: string,
): URL | undefined {
  const keepsMethod = KEEPS_METHOD.has(status) || (status === SEE_OTHER && /^(GET|HEAD)$/i.test(method));
  if (!keepsMethod && status !== SEE_OTHER) {
    return undefined;
  }
  const location = keepsMethod ? headers.get('location') : null;
  const target = location === null ? null : URL.parse(location, from.href);
  if (target?.origin !== from.origin) {
    throw new OutboundError('redirect');
  }
  return target;
}

/** Practically no deadline. */
const LONGEST_MS = 2 ** 30;
const NOT_LATIN = /[\u0100-\uffff]/;

/**
 * Sends one request with an optional text body. Does not follow redirects. Cheaper than `fetch` with its rules for browsers.
 * @param signal aborts the request and closes its socket, even while the body is being read
 * @param deadlineMs limit for the entire exchange including the body; only used when another thread sends the request
 */
export async function dial(
  sockets: KeptSockets,
  url: URL,
  { method = 'GET', headers, body }: RequestInit,
  signal: AbortSignal,
  deadlineMs = LONGEST_MS,
): Promise<DialledResponse> {
  if (body !== undefined && body !== null && typeof body !== 'string') {
    throw new TypeError('only text bodies can be sent');
  }
  const { tls, tlsDialer } = sockets;
  const sent = { method, headers: sentHeaders(headers), body: body ?? null };
  if (tlsDialer !== undefined && url.protocol === 'https:') {
    const { thread, settings } = tlsDialer;
    return thread.dial({ ...sent, url: url.href, tls, settings }, deadlineMs, signal);
  }
  const response = await request(url, {
    ...sent,
    method: method as 'GET',
    dispatcher: sockets.agent,
    signal,
  });
  // Without a listener, an error of a body that is not being read would crash the process.
  response.body.on('error', () => undefined);
  return { status: response.statusCode, headers: receivedHeaders(response.headers), body: response.body };
}

function sentHeaders(init: RequestInit['headers']): Record<string, string> {
  const usual = { accept: '*/*', 'user-agent': `${SERVICE_NAME}/${SERVICE_VERSION}` };
  return { ...usual, ...Object.fromEntries(new Headers(init)), 'accept-encoding': 'identity' };
}

function receivedHeaders(received: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(received)) {
    for (const value of [values ?? []].flat()) {
      // Bytes beyond ASCII are opaque (RFC 9110, section 5.5), and `Headers` accepts them only as one character each.
      headers.append(name, NOT_LATIN.test(value) ? Buffer.from(value).toString('latin1') : value);
    }
  }
  return headers;
}
