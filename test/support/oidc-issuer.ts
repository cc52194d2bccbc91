import type { RequestListener, ServerResponse } from 'node:http';
import { exportJWK, type JWK } from 'jose';
import { Provider, errors } from 'oidc-provider';
import { IssuerServer, AUDIENCE, signingKey } from './issuer.js';
import { type Peer, startHttpPeer } from './peers/peer.js';

export interface OidcClient {
  readonly id: string;
  readonly secret: string;
  /** Additional claims of its access tokens, such as realm_access or given_name. */
  readonly claims?: Record<string, unknown>;
}

const SCOPES = 'integration:manage platform:discover process:start';

/** A real OpenID Connect provider with discovery, key set and client credentials, such as a company's single sign-on. */
export class OidcIssuer extends IssuerServer {
  private keys: JWK[] = [];

  private constructor(private readonly clients: readonly OidcClient[]) {
    super();
  }

  /** Starts a provider with one RS256 key. */
  static async start(clients: readonly OidcClient[]): Promise<OidcIssuer> {
    const issuer = new OidcIssuer(clients);
    await issuer.start();
    await issuer.rotate();
    return issuer;
  }

  /** Publishes a new key and signs with it from now on. Older keys stay published. */
  async rotate(): Promise<void> {
    const { privateKey, kid, alg } = await signingKey('RS256');
    this.keys = [{ ...(await exportJWK(privateKey)), kid, alg, use: 'sig' }, ...this.keys];
    this.handler = new Provider(this.url, this.configuration()).callback();
  }

  /** Requests an access token for a client from the token endpoint. */
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
        resourceIndicators: resourceIndicators(SCOPES, 300),
      },
      extraTokenClaims: (_context: unknown, token: { clientId: string }) =>
        this.clients.find(({ id }) => id === token.clientId)?.claims ?? {},
      ttl: { ClientCredentials: 300 },
    };
  }
}

/**
 * Configures the feature `resourceIndicators` (RFC 8707) of a provider that issues JWT access tokens only for the service.
 * @param scope scopes that a token may grant, separated by spaces
 * @param accessTokenTTL lifetime of tokens in seconds
 */
export function resourceIndicators(
  scope: string,
  accessTokenTTL: number | undefined,
): Record<string, unknown> {
  const resource = {
    scope,
    audience: AUDIENCE,
    accessTokenTTL,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'RS256' } },
  };
  return {
    enabled: true,
    defaultResource: () => AUDIENCE,
    useGrantedResource: () => true,
    getResourceServerInfo: (_context: unknown, indicator: string) => {
      if (indicator !== AUDIENCE) {
        throw new errors.InvalidTarget();
      }
      return resource;
    },
  };
}

/** A client registered at the OAuth peer, with its secret or with public keys. */
export type OAuthPeerClient = { clientId: string } & (
  | { clientSecret: string; method: 'client_secret_basic' | 'client_secret_post' }
  | { jwks: { keys: object[] }; method: 'private_key_jwt'; algorithm: string }
);

/**
 * Starts a real OAuth 2.0 server (`oidc-provider`) for the client credentials grant.
 * @param clients registered clients, each with one authentication method
 * @param resource the resource (RFC 8707) that tokens are issued for; any other gets `invalid_target`
 * @returns a peer whose `url` is the token endpoint, with a function that recognizes the tokens it issued
 */
export async function startOAuthPeer(
  clients: OAuthPeerClient[],
  resource: () => string,
): Promise<Peer & { isIssued: (token: string | undefined) => boolean }> {
  const issued = new Set<string>();
  let listener: RequestListener = notReady;
  const peer = await startHttpPeer((request, response) => listener(request, response), '/token');
  const provider = new Provider(new URL(peer.url).origin, {
    clients: clients.map((client) => ({
      client_id: client.clientId,
      ...('jwks' in client
        ? { jwks: client.jwks, token_endpoint_auth_signing_alg: client.algorithm }
        : { client_secret: client.clientSecret }),
      token_endpoint_auth_method: client.method,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    enabledJWA: {
      clientAuthSigningAlgValues: ['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource(),
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, indicator: string) => {
          if (indicator !== resource()) {
            throw new errors.InvalidTarget();
          }
          return { scope: '', accessTokenFormat: 'opaque', accessTokenTTL: 300 };
        },
      },
    },
  });
  const callback = provider.callback();
  listener = (request, response) => {
    const end = response.end.bind(response);
    response.end = ((body?: unknown, ...rest: never[]) => {
      const token = /"access_token":"([^"]+)"/.exec(
        typeof body === 'string' || Buffer.isBuffer(body) ? body.toString() : '',
      )?.[1];
      if (token !== undefined) {
        issued.add(token);
      }
      return end(body as never, ...rest);
    }) as typeof response.end;
    callback(request, response);
  };
  return Object.assign(peer, { isIssued: (token: string | undefined) => issued.has(token ?? '') });
}

function notReady(_request: unknown, response: ServerResponse): void {
  response.writeHead(503).end();
}
