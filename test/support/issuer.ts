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

/** Creates a key pair. `kid` defaults to one that is unique in this process. */
export async function signingKey(alg = 'ES256', kid?: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const id = kid ?? `key-${process.pid}-${(keyCount += 1)}`;
  const publicJwk = { ...(await exportJWK(publicKey)), kid: id, alg, use: 'sig' };
  return { kid: id, alg, privateKey, publicKey, publicJwk };
}

export interface SignOptions {
  /** Overrides members of the protected header; undefined removes a member. */
  readonly header?: Record<string, unknown>;
  readonly key?: SigningKey;
}

/** An HTTP server on loopback that can stop and start again on the same port. */
export class IssuerServer {
  private server: Server | undefined;
  private port: number | undefined;
  handler: RequestListener = (_request, response) => response.writeHead(404).end();

  get url(): string {
    return `http://127.0.0.1:${this.port ?? 0}`;
  }

  /** Starts listening: the first time on a free port, later on the same port. */
  async start(): Promise<void> {
    this.port ??= await freePort();
    const server = createServer((request, response) => this.handler(request, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.port, '127.0.0.1', resolve);
    });
    this.server = server;
  }

  /** Stops listening and closes all connections. Does nothing if the server is not running. */
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
 * A minimal OpenID Connect issuer: a discovery document and a key set. It signs any claims and can misbehave: be down,
 * slow, or send answers that are huge, invalid or name another issuer.
 */
export class StubIssuer extends IssuerServer {
  /** Published keys; the last one signs. */
  keys: SigningKey[] = [];
  /** Delay before each answer, in milliseconds. */
  delayMs = 0;
  /** Replaces the answer with the key set. */
  answerKeys: ((response: ServerResponse) => void) | undefined;
  /** Overrides members of the discovery document. */
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

  /** Publishes a new key and signs with it from now on. Older keys stay published unless `retire` is set. */
  async rotate({ retire = false, alg = 'ES256' } = {}): Promise<SigningKey> {
    const key = await signingKey(alg);
    this.keys = retire ? [key] : [...this.keys, key];
    return key;
  }

  /** Returns the claims of a valid access token with every permission. */
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
        'openid integration:manage application:deliver process:read process:administer process:correct workflow:test tool:call tool:use',
    };
  }

  /** Signs a valid token with these claims overridden; undefined removes a claim. */
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
