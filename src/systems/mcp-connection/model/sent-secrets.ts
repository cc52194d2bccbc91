import { credentialParts } from '../../../platform/secrets/credential-parts.js';
import { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import type { ApiKey, SystemCredentials } from './connection-test.types.js';

/** Answers are searched for each part of a key. */
const MAX_PARTS = 20;

/** Basic credentials of a client (RFC 6749, section 2.3.1): both parts are form-encoded first. */
export function basicCredentials(clientId: string, clientSecret: string): string {
  return Buffer.from(`${formEncode(clientId)}:${formEncode(clientSecret)}`).toString('base64');
}

/** The value of the header that an API key is sent in. */
function apiKeyValue({ scheme, apiKey }: ApiKey): string {
  return scheme === null ? apiKey : `${scheme} ${apiKey}`;
}

/** Takes out of answers what was sent for them. @param sent further credentials, such as tokens */
export function removalOf(credentials: SystemCredentials, sent: readonly string[]): SecretRemoval {
  const headers = Object.values(credentials.headers ?? {}).flatMap((value) =>
    credentialParts(value).slice(0, MAX_PARTS),
  );
  return new SecretRemoval([...secretsOf(credentials), ...headers, ...sent]);
}

/** Headers that go with each request; undefined when one was never set: nothing may be sent then. */
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
