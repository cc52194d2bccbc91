import type { RequestListener, ServerResponse } from 'node:http';

import { errors, Provider } from 'oidc-provider';

import { type Peer, startHttpPeer } from './peer.js';

/** A client registered at the OAuth peer, with its secret or with public keys. */
export type OAuthPeerClient = { clientId: string } & (
  | { clientSecret: string; method: 'client_secret_basic' | 'client_secret_post' }
  | { jwks: { keys: object[] }; method: 'private_key_jwt'; algorithm: string }
);

/**
 * Starts a real OAuth 2.0 server (`oidc-provider`) for the client credentials grant.
 * @param clients clients it knows, each with one authentication method
 * @param resource the resource (RFC 8707) tokens are issued for; any other is answered `invalid_target`
 * @returns a peer whose `url` is the token endpoint, and a check of the tokens it issued
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
