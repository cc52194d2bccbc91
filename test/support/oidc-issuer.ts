import { exportJWK, type JWK } from 'jose';
import { Provider } from 'oidc-provider';
import { IssuerServer } from './issuer-server.js';
import { AUDIENCE, signingKey } from './issuer.js';
import { resourceIndicators } from './resource-indicators.js';

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
