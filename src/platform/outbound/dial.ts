import { type Agent, request } from 'undici';
import type { DialledResponse, FarConnections } from './outbound.types.js';
import type { TlsMaterial } from '../tls/tls-material.js';
import { OutboundError } from './outbound.error.js';
import { SERVICE_NAME, SERVICE_VERSION } from '../service-version.js';

/** The sockets of one or more operations, all opened with the same certificates. */
export class KeptSockets {
  /** @param opening ends the tunnels that are being opened */
  constructor(
    readonly agent: Agent,
    readonly tls: TlsMaterial | undefined,
    private readonly opening: AbortController,
    /** Where connections over TLS are opened instead. @default here */
    readonly far?: FarConnections,
  ) {}

  /** Closes every socket, also those in use. Safe to call twice. */
  async close(): Promise<void> {
    this.opening.abort(new OutboundError('closed'));
    await this.agent.destroy();
  }
}

const KEEPS_METHOD = new Set([301, 302, 307, 308]);
const SEE_OTHER = 303;

/**
 * Where a response redirects to, if it does. It must keep the method (RFC 9110, section 15.4) and the origin,
 * so that neither credentials nor a body reach another party.
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

/** The longest that a timer can wait. */
const LONGEST_MS = 2 ** 30;
const NOT_LATIN = /[\u0100-\uffff]/;

/**
 * Sends one request with a text as body, and follows nothing. Less work than `fetch` with its rules for
 * browsers.
 * @param signal ends the request and closes its socket, also while the body is read
 * @param deadlineMs until the body has been read, for another thread
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
  const { tls, far } = sockets;
  const sent = { method, headers: sentHeaders(headers), body: body ?? null };
  if (far !== undefined && url.protocol === 'https:') {
    return far.thread.dial({ ...sent, url: url.href, tls, settings: far.settings }, deadlineMs, signal);
  }
  const response = await request(url, {
    ...sent,
    method: method as 'GET',
    dispatcher: sockets.agent,
    signal,
  });
  // What ends a body that nobody reads must not end the process.
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
      // RFC 9110, section 5.5: bytes beyond ASCII are opaque; Headers takes them one by one only.
      headers.append(name, NOT_LATIN.test(value) ? Buffer.from(value).toString('latin1') : value);
    }
  }
  return headers;
}
