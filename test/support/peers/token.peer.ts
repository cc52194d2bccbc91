import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Peer, readBody, startHttpPeer } from './peer.js';

/** Behavior of a scripted token endpoint; may be changed at any time. */
export interface TokenScript {
  clientId: string;
  clientSecret: string;
  /** Supported client authentication. */
  method: 'basic' | 'post' | 'any';
  /** Value of `expires_in` in seconds; undefined omits it. */
  expiresIn: number | undefined;
  /** Error code for requests with `resource`; undefined accepts them. */
  refuseResource: string | undefined;
  /** Delay before each answer, in milliseconds. */
  delayMs: number;
  /** Prefix of tokens; a number follows. */
  tokenPrefix: string;
  /** Overrides the answer to a request; `count` is 1 for the first. `undefined` keeps the regular answer. */
  instead: (form: Record<string, string>, count: number) => InsteadAnswer | undefined;
}

/** Answer of an overridden request. */
export interface InsteadAnswer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** A scripted token endpoint and the requests it has received. */
export interface TokenPeer extends Peer {
  readonly script: TokenScript;
  /** Parameters of each request, without `client_secret` but with the used `authentication` method. */
  readonly requests: Record<string, string>[];
  /** Issued tokens. Remove one to revoke it. */
  readonly valid: Set<string>;
}

/** Starts a token endpoint for the client credentials grant (RFC 6749, section 4.4). Tokens are `token-1`, `token-2` … */
export async function startTokenPeer(overrides: Partial<TokenScript> = {}): Promise<TokenPeer> {
  const script: TokenScript = {
    clientId: 'client',
    clientSecret: 'secret',
    method: 'any',
    expiresIn: 300,
    refuseResource: undefined,
    delayMs: 0,
    tokenPrefix: 'token-',
    instead: () => undefined,
    ...overrides,
  };
  const requests: Record<string, string>[] = [];
  const valid = new Set<string>();
  let issued = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, id, secret, form } = await readClient(request);
    requests.push({ ...form, authentication: method });
    await new Promise((resolve) => setTimeout(resolve, script.delayMs));
    const isKnown = id === script.clientId && secret === script.clientSecret;
    const instead = script.instead(form, requests.length);
    if (instead !== undefined) {
      send(response, instead.status, instead.body, instead.headers);
    } else if (!isKnown || (script.method !== 'any' && script.method !== method)) {
      send(response, 401, { error: 'invalid_client' });
    } else if (form['resource'] !== undefined && script.refuseResource !== undefined) {
      send(response, 400, { error: script.refuseResource });
    } else {
      const token = `${script.tokenPrefix}${(issued += 1)}`;
      valid.add(token);
      send(response, 200, { access_token: token, token_type: 'Bearer', expires_in: script.expiresIn });
    }
  };
  const peer = await startHttpPeer((request, response) => void answer(request, response), '/token');
  return Object.assign(peer, { script, requests, valid });
}

async function readClient(request: IncomingMessage) {
  const { client_secret: posted, ...form } = Object.fromEntries(new URLSearchParams(await readBody(request)));
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const [id, secret] =
    basic === undefined ? [] : Buffer.from(basic, 'base64').toString().split(':').map(formDecode);
  return basic === undefined
    ? { method: 'post', id: form['client_id'], secret: posted, form }
    : { method: 'basic', id, secret, form };
}

function formDecode(value: string): string {
  return new URLSearchParams(`v=${value}`).get('v') ?? '';
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}
