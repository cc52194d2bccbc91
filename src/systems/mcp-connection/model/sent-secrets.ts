import { credentialParts } from '../../../platform/secrets/credential-parts.js';
import { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import type { ApiKey, SystemCredentials } from './connection-test.types.js';

/** Maximum number of parts of a key for which answers are searched. */
const MAX_PARTS = 20;

/** Encodes Basic credentials of a client (RFC 6749, section 2.3.1), whose parts are form-encoded first. */
export function basicCredentials(clientId: string, clientSecret: string): string {
  return Buffer.from(`${formEncode(clientId)}:${formEncode(clientSecret)}`).toString('base64');
}

/** Returns the header value for an API key. */
function apiKeyValue({ scheme, apiKey }: ApiKey): string {
  return scheme === null ? apiKey : `${scheme} ${apiKey}`;
}

/** Creates a filter that removes sent credentials from answers. @param sent further credentials, such as tokens */
export function removalOf(credentials: SystemCredentials, sent: readonly string[]): SecretRemoval {
  const headers = Object.values(credentials.headers ?? {}).flatMap((value) =>
    credentialParts(value).slice(0, MAX_PARTS),
  );
  return new SecretRemoval([...secretsOf(credentials), ...headers, ...sent]);
}

/** Returns the API key and static headers for each request; undefined when one was never set, so nothing may be sent. */
export function ownHeaders(credentials: SystemCredentials): Record<string, string> | undefined {
  const { type, headers } = credentials;
  const key =
    type === 'API_KEY' ? { [credentials.headerName]: credentials.apiKey && apiKeyValue(credentials) } : {};
  const all = { ...headers, ...key };
  return Object.values(all).includes('') ? undefined : all;
}

function secretsOf(credentials: SystemCredentials): string[] {
  switch (credentials.type) {
    case 'API_KEY':
      return [credentials.apiKey, ...credentialParts(apiKeyValue(credentials)).slice(0, MAX_PARTS)];
    case 'SERVICE_ACCOUNT':
      // A private key is never sent.
      return 'clientSecret' in credentials
        ? [credentials.clientSecret, basicCredentials(credentials.clientId, credentials.clientSecret)]
        : [];
    default:
      return [];
  }
}

function formEncode(value: string): string {
  return new URLSearchParams({ v: value }).toString().slice(2);
}
