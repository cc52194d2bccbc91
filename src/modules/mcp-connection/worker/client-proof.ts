import { randomUUID } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import type { ClientAuthentication } from '../model/connection-test.types.js';
import { basicCredentials } from '../model/sent-secrets.js';
import { ConnectionError } from './connection.error.js';

/** Seconds that an assertion is good for: the time for one request, and for clocks that differ. */
const ASSERTION_LIFE = 60;
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Who asks for a token, and where. */
type Client = { clientId: string; tokenUrl: string } & ClientAuthentication;

/** What shows a token endpoint who asks: members of the form, or a header. */
export interface ClientProof {
  form: Record<string, string>;
  headers: Record<string, string>;
}

/**
 * Client authentication of one request (RFC 6749, section 2.3.1; RFC 7523, section 2.2). An assertion is new for each request.
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

/** The audience is the token endpoint (RFC 7523, section 3): no other name of the server is configured. */
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
    // What it says could quote the key. A key that was never set is here too.
    throw new ConnectionError('invalid_client');
  }
}
