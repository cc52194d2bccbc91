import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { SystemCredentials } from './connection-test.types.js';

/** Basic credentials of a client (RFC 6749, section 2.3.1): both parts are form-encoded first. */
export function basicCredentials(clientId: string, clientSecret: string): string {
  return Buffer.from(`${formEncode(clientId)}:${formEncode(clientSecret)}`).toString('base64');
}

/**
 * Takes out of answers what was sent for them.
 * @param sent what a call was made with: access tokens, and credentials that are no system's
 */
export function removalOf(credentials: SystemCredentials, sent: readonly string[]): SecretRemoval {
  if (credentials.type === 'NO_AUTH') {
    return new SecretRemoval(sent);
  }
  const { clientId, clientSecret } = credentials;
  return new SecretRemoval([clientSecret, basicCredentials(clientId, clientSecret), ...sent]);
}

function formEncode(value: string): string {
  return new URLSearchParams({ v: value }).toString().slice(2);
}
