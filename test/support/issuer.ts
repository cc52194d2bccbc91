import { randomBytes } from 'node:crypto';
import { type ServerResponse, createServer, type RequestListener, type Server } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { freePort } from './databases/process-resources.js';

export const AUDIENCE = 'urn:svc:api';

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
}

let keyCount = 0;

/** A fresh key pair. `kid` is unique in this process unless given. */
export async function signingKey(alg = 'ES256', kid?: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const id = kid ?? `key-${process.pid}-${(keyCount += 1)}`;
  const publicJwk = { ...(await exportJWK(publicKey)), kid: id, alg, use: 'sig' };
  return { kid: id, alg, privateKey, publicKey, publicJwk };
}

export interface SignOptions {
  /** Overrides of the protected header; undefined removes a member. */
  readonly header?: Record<string, unknown>;
  readonly key?: SigningKey;
}

/** An HTTP server on a loopback port that can go away and come back on the same port. */
export class IssuerServer {
  private server: Server | undefined;
  private port: number | undefined;
  handler: RequestListener = (_request, response) => response.writeHead(404).end();

  get url(): string {
    return `http://127.0.0.1:${this.port ?? 0}`;
  }

  /** Listens, the first time on a free port, later on the same one. */
  async start(): Promise<void> {
    this.port ??= await freePort();
    const server = createServer((request, response) => this.handler(request, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.port, '127.0.0.1', resolve);
    });
    this.server = server;
  }

  /** Stops listening and cuts every connection. Does nothing when it is not running. */
  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server) {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    }
  }
}

/**
 * A fast OpenID Connect issuer made of a discovery document and a key set, which signs any claims and can misbehave:
 * be down, slow, huge, broken, or name another issuer.
 */
export class StubIssuer extends IssuerServer {
  /** Keys that are published; the last one signs. */
  keys: SigningKey[] = [];
  /** Milliseconds before every answer. */
  delayMs = 0;
  /** Writes the key set answer instead of the normal one. */
  answerKeys: ((response: ServerResponse) => void) | undefined;
  /** Overrides of the discovery document. */
  discovery: Record<string, unknown> = {};
  discoveryRequests = 0;
  jwksRequests = 0;

  /** Starts an issuer with one ES256 key. */
  static async start(): Promise<StubIssuer> {
    const issuer = new StubIssuer();
    issuer.keys = [await signingKey()];
    issuer.handler = (request, response) => {
      setTimeout(() => issuer.answer(request.url ?? '', response), issuer.delayMs);
    };
    await issuer.start();
    return issuer;
  }

  /** Publishes a new key, which signs from now on. The old ones stay published unless they are retired. */
  async rotate({ retire = false, alg = 'ES256' } = {}): Promise<SigningKey> {
    const key = await signingKey(alg);
    this.keys = retire ? [key] : [...this.keys, key];
    return key;
  }

  /** Claims of a good access token with every permission. */
  claims(): JWTPayload {
    const now = Math.floor(Date.now() / 1_000);
    return {
      iss: this.url,
      aud: AUDIENCE,
      sub: 'user-1',
      iat: now,
      exp: now + 300,
      jti: randomBytes(9).toString('base64url'),
      given_name: 'Jane',
      family_name: 'Doe',
      preferred_username: 'jane.doe',
      scope:
        'openid integration:manage application:deliver process:read process:administer process:correct workflow:test tool:call',
    };
  }

  /** Signs the claims of a good token with these overrides; an undefined override removes the claim. */
  async sign(
    overrides: Record<string, unknown> = {},
    { header = {}, key }: SignOptions = {},
  ): Promise<string> {
    const signer = key ?? this.keys.at(-1)!;
    const claims = withoutUndefined({ ...this.claims(), ...overrides });
    const full = withoutUndefined({ alg: signer.alg, kid: signer.kid, typ: 'at+jwt', ...header });
    return new SignJWT(claims).setProtectedHeader(full as { alg: string }).sign(signer.privateKey);
  }

  private answer(path: string, response: ServerResponse): void {
    if (path === '/.well-known/openid-configuration') {
      this.discoveryRequests += 1;
      json(response, { issuer: this.url, jwks_uri: `${this.url}/jwks`, ...this.discovery });
    } else if (path === '/jwks') {
      this.jwksRequests += 1;
      if (this.answerKeys) {
        this.answerKeys(response);
      } else {
        json(response, { keys: this.keys.map(({ publicJwk }) => publicJwk) });
      }
    } else {
      response.writeHead(404).end();
    }
  }
}

function withoutUndefined(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function json(response: ServerResponse, body: unknown): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}
