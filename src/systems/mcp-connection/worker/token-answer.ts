import { randomUUID } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import type { ClientAuthentication } from '../model/connection-test.types.js';
import { basicCredentials } from '../model/sent-secrets.js';
import { ConnectionError } from './connection.error.js';
import { isJsonObject, parsedJson } from '#engine/json';
import type { OutboundOperation } from '../../../platform/outbound/outbound.operation.js';
import { retryAfterOf } from '../../../platform/outbound/retry-after.js';
import type { ConnectionFailureCause } from '../model/connection-failure.types.js';

/** Lifetime of an assertion in seconds: enough for one request and some clock skew. */
const ASSERTION_LIFE = 60;
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Client and token endpoint of a request. */
type Client = { clientId: string; tokenUrl: string } & ClientAuthentication;

/** Client authentication in a token request, as form fields or a header. */
interface ClientProof {
  form: Record<string, string>;
  headers: Record<string, string>;
}

/**
 * Creates the client authentication of one request (RFC 6749, section 2.3.1; RFC 7523, section 2.2), with a new assertion each time.
 * @throws ConnectionError `invalid_client` when the private key cannot sign
 */
export async function clientProof(
  client: Client,
  method: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt',
): Promise<ClientProof> {
  const { clientId } = client;
  if ('privateKey' in client) {
    const assertion = { client_assertion_type: ASSERTION_TYPE, client_assertion: await assertionOf(client) };
    return { form: { client_id: clientId, ...assertion }, headers: {} };
  }
  return method === 'client_secret_basic'
    ? { form: {}, headers: { authorization: `Basic ${basicCredentials(clientId, client.clientSecret)}` } }
    : { form: { client_id: clientId, client_secret: client.clientSecret }, headers: {} };
}

/** Signs an assertion. Its audience is the token endpoint (RFC 7523, section 3), because no other name of the server is configured. */
async function assertionOf({
  clientId,
  tokenUrl,
  privateKey,
  algorithm,
  keyId,
}: Extract<Client, { privateKey: string }>): Promise<string> {
  try {
    return await new SignJWT()
      .setProtectedHeader({ alg: algorithm, ...(keyId === null ? {} : { kid: keyId }) })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(tokenUrl)
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime(`${ASSERTION_LIFE}s`)
      .sign(await importPKCS8(privateKey, algorithm));
  } catch {
    // The error is dropped because it could quote the key. A key that was never set fails here too.
    throw new ConnectionError('invalid_client');
  }
}

/** Response of a token endpoint. */
export interface TokenAnswer {
  status: number;
  /** Members of the JSON object or fields of the form; empty for other bodies. */
  body: Readonly<Record<string, unknown>>;
  /** `Retry-After` in milliseconds; null without one. */
  retryAfterMs: number | null;
}

const FORM = /^(application\/x-www-form-urlencoded|text\/plain)\b/i;

/** Error codes (RFC 6749, section 5.2; RFC 8707; OpenID Connect) that indicate what to change. */
const CAUSES: Readonly<Record<string, ConnectionFailureCause>> = {
  invalid_client: 'invalid_client',
  unauthorized_client: 'token_grant',
  unsupported_grant_type: 'token_grant',
  invalid_scope: 'token_scope',
  invalid_request: 'token_request',
  access_denied: 'token_denied',
  invalid_target: 'token_denied',
  invalid_resource: 'token_denied',
};

const BY_STATUS: Readonly<Record<number, ConnectionFailureCause>> = {
  401: 'invalid_client',
  403: 'token_denied',
  429: 'token_busy',
};

/** Reads a response of a token endpoint: JSON (RFC 6749, section 5), or a form, which some endpoints send. */
export async function readTokenAnswer(
  response: Response,
  operation: OutboundOperation,
): Promise<TokenAnswer> {
  const text = await operation.race(response.text());
  const json = parsedJson(text);
  const isForm = FORM.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    body: isJsonObject(json) ? json : isForm ? Object.fromEntries(new URLSearchParams(text)) : {},
    retryAfterMs: retryAfterOf(response.headers),
  };
}

/** Returns the cause of an error response. */
export function causeOfAnswer({ status, body }: TokenAnswer): ConnectionFailureCause {
  const error = body['error'];
  // Codes with 401 are ignored, because Keycloak answers a wrong secret with 401 and `unauthorized_client`.
  const isSpecific = typeof error === 'string' && status !== 401 && status !== 429;
  const known = isSpecific ? CAUSES[error] : undefined;
  return known ?? BY_STATUS[status] ?? (status >= 500 ? 'token_error' : 'token_invalid');
}
