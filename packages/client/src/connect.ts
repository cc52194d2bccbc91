import { AddressError, NoAnswerError, ServiceError } from './errors.js';
import { createClient, createConfig } from './generated/client/index.js';
import { SvcClient } from './generated/sdk.gen.js';

/** Which service, and as whom. */
export interface ConnectOptions {
  /** Base address of the deployment, without a path of the API. */
  url: string;
  /** Bearer token, or what gets one before each request. Without it only the health probes answer. */
  token?: string | (() => string | Promise<string>);
  /** How long a request may take until the whole answer is there; of a stream of events until it begins. Default: 120,000. */
  timeoutMs?: number;
  /** In place of the `fetch` of the surroundings. */
  fetch?: typeof fetch;
}

const TIMEOUT_MS = 120_000;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * A client of one service. Each operation of the service is a method. It resolves with `data`, the body, and `response`, for headers.
 * It is rejected with `ServiceError` when the service refuses, and with `NoAnswerError` when no answer comes.
 * Redirects are not followed, since they would take the token to somebody else.
 * @throws AddressError when the address is none, or a token would go over the network unencrypted
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
        fetch: failing(rest.fetch ?? fetch, new URL(base).origin, timeoutMs),
      }),
    ),
  });
}

function baseOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AddressError('The address of the service must be an http or https address.', 'not-http');
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw new AddressError(
      'A token is sent by https only, unless the service is on this machine.',
      'not-safe',
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** A `fetch` that resolves with whole answers of success, and with streams of events that have begun. */
function failing(send: typeof fetch, origin: string, timeoutMs: number): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const over = new AbortController();
    let isStream = false;
    AbortSignal.timeout(timeoutMs).addEventListener('abort', () => isStream || over.abort());
    try {
      const response = await send(request, { signal: AbortSignal.any([request.signal, over.signal]) });
      if (!response.ok) {
        throw await ServiceError.of(response);
      }
      isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
      return isStream ? response : await whole(response);
    } catch (error) {
      if (error instanceof ServiceError) {
        throw error;
      }
      throw new NoAnswerError(origin, over.signal.aborted ? 'TIMEOUT' : codeOf(error), { cause: error });
    }
  };
}

/** The same answer with its body in memory, so that what breaks while it comes counts as no answer. */
async function whole(response: Response): Promise<Response> {
  const body = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
