import { request } from 'undici';

import { SERVICE_NAME, SERVICE_VERSION } from '../service-version.js';
import type { DialledResponse } from './outbound.types.js';
import type { KeptSockets } from './kept-sockets.js';

/** The longest that a timer can wait. */
const LONGEST_MS = 2 ** 30;
const NOT_LATIN = /[\u0100-\uffff]/;

/**
 * Sends one request and follows nothing. Less work than `fetch`, whose rules for browsers an outbound call does not need.
 * @param init as for fetch; the body must be a string
 * @param signal ends the request and closes its socket, also while the body is read
 * @param deadlineMs until the body has been read, for another thread
 * @throws what undici throws, or the reason of `signal`
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
  const sent = new Headers(init);
  sent.set('accept-encoding', 'identity');
  if (!sent.has('accept')) {
    sent.set('accept', '*/*');
  }
  if (!sent.has('user-agent')) {
    sent.set('user-agent', `${SERVICE_NAME}/${SERVICE_VERSION}`);
  }
  return Object.fromEntries(sent);
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
