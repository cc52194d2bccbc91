import { APP, VERSION, type ApiClient } from './api-client.js';
import { prove } from './proof.js';
import { connectionTestPath } from '../../support/factories.js';

const NOTHING_LISTENS = 'http://127.0.0.1:1/mcp';

/** Creates a system with a secret of its own, which is stored sealed. */
export async function createSealed(client: ApiClient, name: string, index: number): Promise<void> {
  const { status } = await client.create(name, connection(index));
  prove(status === 201, `a create was answered ${status}`);
}

/** Tests the connection of a stored system, which compares its secret: 500 where it cannot be opened. */
export async function openSecret(client: ApiClient, index: number): Promise<void> {
  const { status, body } = await client.send('PATCH', connectionTestPath(APP, VERSION), connection(index));
  prove(status === 200, `a secret could not be opened: ${status} ${JSON.stringify(body)}`);
}

function connection(index: number): { baseUrl: string; authorization: unknown } {
  const configuration = {
    clientId: `client-${index}`,
    clientSecret: `secret-${index}`,
    identityProviderUrl: NOTHING_LISTENS,
  };
  return { baseUrl: NOTHING_LISTENS, authorization: { type: 'SERVICE_ACCOUNT', configuration } };
}
