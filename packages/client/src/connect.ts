import { AddressError, NoAnswerError, ServiceError } from './errors.js';
import { createClient, createConfig } from './generated/client/index.js';
import { SvcClient } from './generated/sdk.gen.js';

/** Options of {@link connect}. */
export interface ConnectOptions {
  /** Base URL of the deployment, without an API path. */
  url: string;
  /** Bearer token, or a function called for one before each request. Without it, only the health probes work. */
  token?: string | (() => string | Promise<string>);
  /** Timeout for the whole response or, for event streams, until it begins. Default: 120,000. */
  timeoutMs?: number;
  /** Replacement for the global `fetch`. */
  fetch?: typeof fetch;
}

const TIMEOUT_MS = 120_000;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Creates a client of a service, with a method for each operation. Methods resolve with `data`, the body, and `response`, for headers.
 * They reject with `ServiceError` when the service rejects the request, and with `NoAnswerError` when there is no response.
 * Redirects are not followed, because they would send the token to another server.
 * @throws AddressError when the URL is invalid, or a token would be sent unencrypted
 */
export function connect({ url, token, timeoutMs = TIMEOUT_MS, ...rest }: ConnectOptions): SvcClient {
  const base = baseOf(url);
  const auth = typeof token === 'function' ? async () => token() : () => token;
  return new SvcClient({
    client: createClient(
      createConfig({
        baseUrl: base,
        auth,
        redirect: 'error',
        throwOnError: true,
        fetch: checkedFetch(rest.fetch ?? fetch, new URL(base).origin, timeoutMs),
      }),
    ),
  });
}

function baseOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AddressError('The address of the service must be an http or https URL.', 'not-http');
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw new AddressError(
      'Tokens are sent only over https, unless the service is on this machine.',
      'not-safe',
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** Wraps `fetch` to return complete successful responses and started event streams, and to throw for everything else. */
function checkedFetch(send: typeof fetch, origin: string, timeoutMs: number): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const timeout = new AbortController();
    let isStream = false;
    AbortSignal.timeout(timeoutMs).addEventListener('abort', () => isStream || timeout.abort());
    try {
      const response = await send(request, { signal: AbortSignal.any([request.signal, timeout.signal]) });
      if (!response.ok) {
        throw await ServiceError.of(response);
      }
      isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
      return isStream ? response : await buffered(response);
    } catch (error) {
      if (error instanceof ServiceError) {
        throw error;
      }
      throw new NoAnswerError(origin, timeout.signal.aborted ? 'TIMEOUT' : codeOf(error), { cause: error });
    }
  };
}

/** Reads the whole body, so that a connection that breaks in between counts as no response. */
async function buffered(response: Response): Promise<Response> {
  const body = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
