import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import Provider, { errors } from 'oidc-provider';
import { IssuerServer } from './issuer-server.js';

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

/**
 * A fast OpenID Connect issuer made of a discovery document and a key set, which signs any claims and can misbehave:
 * be down, slow, huge, broken, or name another issuer.
 */
export class StubIssuer {
  private readonly server = new IssuerServer();
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
    issuer.server.handler = (request, response) => {
      setTimeout(() => issuer.answer(request.url ?? '', response), issuer.delayMs);
    };
    await issuer.server.start();
    return issuer;
  }

  get url(): string {
    return this.server.url;
  }

  start(): Promise<void> {
    return this.server.start();
  }

  stop(): Promise<void> {
    return this.server.stop();
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
      scope: 'openid integration:manage',
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

export interface OidcClient {
  readonly id: string;
  readonly secret: string;
  /** Claims of its access tokens besides the standard ones, such as realm_access or given_name. */
  readonly claims?: Record<string, unknown>;
}

const SCOPES = 'integration:manage platform:discover process:start';

/** The company's single sign-on as a real OpenID Connect provider: discovery, key set, client credentials. */
export class OidcIssuer {
  private readonly server = new IssuerServer();
  private keys: JWK[] = [];

  private constructor(private readonly clients: readonly OidcClient[]) {}

  /** Starts a provider with one RS256 key. */
  static async start(clients: readonly OidcClient[]): Promise<OidcIssuer> {
    const issuer = new OidcIssuer(clients);
    await issuer.server.start();
    await issuer.rotate();
    return issuer;
  }

  get url(): string {
    return this.server.url;
  }

  start(): Promise<void> {
    return this.server.start();
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Publishes a new key that signs from now on; the old ones stay published. */
  async rotate(): Promise<void> {
    const { privateKey, kid, alg } = await signingKey('RS256');
    this.keys = [{ ...(await exportJWK(privateKey)), kid, alg, use: 'sig' }, ...this.keys];
    this.server.handler = new Provider(this.url, this.configuration()).callback();
  }

  /** Asks the token endpoint for an access token of a client, as a real caller would. */
  async token(clientId: string, scope = SCOPES): Promise<string> {
    const client = this.clients.find(({ id }) => id === clientId);
    const response = await fetch(`${this.url}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: client?.secret ?? '',
        scope,
        resource: AUDIENCE,
      }),
    });
    const body = (await response.json()) as { access_token?: string };
    if (!body.access_token) {
      throw new Error(`No token for ${clientId}: ${JSON.stringify(body)}`);
    }
    return body.access_token;
  }

  private configuration(): Record<string, unknown> {
    const resource = {
      scope: SCOPES,
      audience: AUDIENCE,
      accessTokenTTL: 300,
      accessTokenFormat: 'jwt',
      jwt: { sign: { alg: 'RS256' } },
    };
    return {
      jwks: { keys: this.keys },
      clients: this.clients.map(({ id, secret }) => ({
        client_id: id,
        client_secret: secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
      })),
      scopes: SCOPES.split(' '),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => AUDIENCE,
          useGrantedResource: () => true,
          getResourceServerInfo: (_context: unknown, indicator: string) => {
            if (indicator !== AUDIENCE) {
              throw new errors.InvalidTarget();
            }
            return resource;
          },
        },
      },
      extraTokenClaims: (_context: unknown, token: { clientId: string }) =>
        this.clients.find(({ id }) => id === token.clientId)?.claims ?? {},
      ttl: { ClientCredentials: 300 },
    };
  }
}

function withoutUndefined(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function json(response: ServerResponse, body: unknown): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}
