import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { exportJWK, SignJWT, type JWK, type JWTPayload } from 'jose';
import { Provider, type Grant } from 'oidc-provider';
import { AUDIENCE, signingKey, type SigningKey, IssuerServer } from '../../support/issuer.js';
import { resourceIndicators } from '../../support/oidc-issuer.js';
import { PERSONAS, type Persona } from './personas.js';

/** Id of the console's client: public, with PKCE. */
export const CONSOLE_CLIENT = 'svc-console';
const SETUP_SECRET = randomBytes(24).toString('hex');
const RESOURCE_SCOPE = 'svc';
const INTERACTION = /^\/interaction\/([\w-]+)$/;

interface SignInOptions {
  /** Whether to issue refresh tokens. Without them, the console renews within a frame. */
  hasRefreshTokens?: boolean;
  /** Lifetime of access tokens. */
  tokenSeconds?: number;
  /** Whether to offer a revocation endpoint. */
  hasRevocation?: boolean;
  /** Whether the token endpoints are at another origin than the issuer. */
  hasTokensElsewhere?: boolean;
}

interface Context {
  oidc: {
    provider: Provider;
    client: { clientId: string };
    session: { accountId: string | undefined; grantIdFor(clientId: string): string | undefined };
    result?: { consent?: { grantId?: string } };
  };
}

/** OpenID Connect provider where users choose an identity without a password. */
export class SignInProvider {
  private readonly server = new IssuerServer();
  private readonly elsewhere = new IssuerServer();
  private keys: JWK[] = [];
  private readonly signingKeys: SigningKey[] = [];
  private provider: Provider | undefined;
  private readonly grants: Grant[] = [];
  private readonly people = new Map<string, Persona>(
    Object.values(PERSONAS).map((persona) => [persona.name, persona]),
  );

  private constructor(private readonly options: Required<SignInOptions>) {}

  static async start(options: SignInOptions = {}): Promise<SignInProvider> {
    const provider = new SignInProvider({
      hasRefreshTokens: true,
      tokenSeconds: 300,
      hasRevocation: true,
      hasTokensElsewhere: false,
      ...options,
    });
    const key = await signingKey('RS256');
    provider.signingKeys.push(key);
    const { privateKey, kid, alg } = key;
    provider.keys = [{ ...(await exportJWK(privateKey)), kid, alg, use: 'sig' }];
    await provider.server.start();
    await provider.elsewhere.start();
    provider.register('http://127.0.0.1:1');
    return provider;
  }

  get url(): string {
    return this.server.url;
  }

  /** Registers the console at an origin. */
  register(origin: string): void {
    const provider = new Provider(this.url, this.configuration(origin));
    this.provider = provider;
    if (this.options.hasTokensElsewhere) {
      provider.use((context, next) => this.nameOtherOrigin(context, next));
    }
    const listener = provider.callback();
    this.elsewhere.handler = listener;
    this.server.handler = (request, response) => {
      const uid = INTERACTION.exec(request.url ?? '')?.[1];
      if (uid === undefined) {
        listener(request, response);
      } else {
        void this.interact(uid, request, response);
      }
    };
  }

  /** Adds or replaces a user. */
  add(persona: Persona): void {
    this.people.set(persona.name, persona);
  }

  /** Returns an access token with the permissions of a user, without a browser. */
  async token(persona: Persona): Promise<string> {
    this.add(persona);
    const response = await fetch(`${this.url}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: `setup-${persona.name}`,
        client_secret: SETUP_SECRET,
        resource: AUDIENCE,
      }),
    });
    const { access_token: token } = (await response.json()) as { access_token?: string };
    if (token === undefined) {
      throw new Error(`no token for ${persona.name}: ${response.status}`);
    }
    return token;
  }

  /** Uses a refresh token of the console. @returns the status of the response */
  async refresh(refreshToken: string): Promise<number> {
    const response = await fetch(`${this.url}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: CONSOLE_CLIENT,
        refresh_token: refreshToken,
      }),
    });
    return response.status;
  }

  /** Creates an ID token. A forged one names the key of the provider but is signed with another. */
  async idToken(claims: JWTPayload, isForged = false): Promise<string> {
    const [own] = this.signingKeys;
    const key = isForged ? await signingKey('RS256') : own;
    if (own === undefined || key === undefined) {
      throw new Error('the provider has not started');
    }
    return new SignJWT(claims).setProtectedHeader({ kid: own.kid, alg: own.alg }).sign(key.privateKey);
  }

  /** Revokes all grants of the console, as an administrator would, so that no token can be renewed. */
  async endGrants(): Promise<void> {
    await Promise.all(this.grants.splice(0).map((grant) => grant.destroy()));
  }

  async stop(): Promise<void> {
    await this.elsewhere.stop();
    await this.server.stop();
  }

  private async nameOtherOrigin(
    context: { path: string; body: unknown },
    next: () => Promise<void>,
  ): Promise<void> {
    await next();
    if (context.path === '/.well-known/openid-configuration') {
      const { url } = this.elsewhere;
      const endpoints = { token_endpoint: `${url}/token`, revocation_endpoint: `${url}/token/revocation` };
      context.body = { ...(context.body as object), ...endpoints };
    }
  }

  /** Serves a page with a sign-in button for each user. */
  private async interact(uid: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') {
      const buttons = [...this.people.values()].map(
        ({ name }) => `<button name="login" value="${name}">${name}</button>`,
      );
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        `<!doctype html><title>Company</title><form method="post" action="/interaction/${uid}">${buttons.join('')}</form>`,
      );
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const login = new URLSearchParams(Buffer.concat(chunks).toString()).get('login') ?? '';
    await this.provider?.interactionFinished(request, response, { login: { accountId: login } });
  }

  private configuration(origin: string): Record<string, unknown> {
    const { hasRefreshTokens, tokenSeconds, hasRevocation } = this.options;
    return {
      jwks: { keys: this.keys },
      cookies: { keys: ['console-tests'] },
      clients: [
        {
          client_id: CONSOLE_CLIENT,
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code', ...(hasRefreshTokens ? ['refresh_token'] : [])],
          response_types: ['code'],
          redirect_uris: [`${origin}/console/signed-in`, `${origin}/console/silent`],
          post_logout_redirect_uris: [`${origin}/console/`],
        },
        ...[...this.people.keys()].map((name) => ({
          client_id: `setup-${name}`,
          client_secret: SETUP_SECRET,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
          token_endpoint_auth_method: 'client_secret_post',
        })),
      ],
      scopes: ['openid', 'profile', 'offline_access', RESOURCE_SCOPE],
      clientBasedCORS: () => true,
      issueRefreshToken: () => hasRefreshTokens,
      findAccount: (_context: unknown, id: string) =>
        this.people.has(id) && { accountId: id, claims: () => ({ sub: id }) },
      loadExistingGrant: (context: Context) => this.grantOf(context),
      extraTokenClaims: (_context: unknown, token: { accountId?: string; clientId: string }) =>
        this.claimsOf(token.accountId ?? token.clientId.replace('setup-', '')),
      interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        revocation: { enabled: hasRevocation },
        resourceIndicators: resourceIndicators(RESOURCE_SCOPE, tokenSeconds),
      },
      ttl: {
        ClientCredentials: 3_600,
        Session: 3_600,
        Grant: 3_600,
        Interaction: 600,
        IdToken: 3_600,
        RefreshToken: 3_600,
      },
    };
  }

  /** Grants everything without a consent page. */
  private async grantOf({ oidc }: Context): Promise<Grant> {
    const { clientId } = oidc.client;
    const id = oidc.result?.consent?.grantId ?? oidc.session.grantIdFor(clientId);
    const known = id === undefined ? undefined : await oidc.provider.Grant.find(id);
    if (known !== undefined) {
      return known;
    }
    const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope('openid profile offline_access');
    grant.addResourceScope(AUDIENCE, RESOURCE_SCOPE);
    await grant.save();
    this.grants.push(grant);
    return grant;
  }

  private claimsOf(name: string): Record<string, unknown> {
    const persona = this.people.get(name);
    return persona === undefined
      ? {}
      : {
          given_name: persona.firstName,
          family_name: persona.lastName,
          preferred_username: persona.name,
          realm_access: { roles: persona.roles },
        };
  }
}
