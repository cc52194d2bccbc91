import { SecretCipher } from '../../src/platform/secrets/secret-cipher.js';
import { ApiClient, type SystemRecord } from './support/api-client.js';
import { doNumbered, prove, type Proof } from './support/proof.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { rows } from './support/rows.js';
import type { ServiceProcess } from './support/service-process.js';

const CONCURRENCY = 50;
const IDENTITY_PROVIDER = 'https://idp.example.com/token';

/** Outcomes known to the callers: names with the id from the 201 response, and names whose request was interrupted. */
interface Outcomes {
  acknowledged: Map<string, string>;
  unknown: Set<string>;
}

export const proof: Proof = {
  name: 'crash',
  claim: 'kill -9 of the service loses, duplicates and partially stores no system',
  databases: ['embedded', 'mariadb', 'mysql'],
  // A create is one transaction, which both servers roll back alike when the connection breaks.
  shortDatabases: ['mysql'],
  async run(environment) {
    const { kills, creates } = environment.short ? { kills: 1, creates: 150 } : { kills: 10, creates: 1_000 };
    const databaseUrl = await environment.emptyDatabase();
    const outcomes: Outcomes = { acknowledged: new Map(), unknown: new Set() };
    for (let round = 0; round < kills; round += 1) {
      const service = await environment.startService(databaseUrl);
      await createUntilKilled(environment, service, outcomes, { round, creates });
    }
    prove(outcomes.unknown.size > 0, 'no kill hit a request, so the proof is inconclusive');
    const service = await environment.startService(databaseUrl);
    const stored = await storedSystems(environment, service);
    compare(outcomes, stored);
    await checkRows(environment, databaseUrl, stored);
    await retryUnknown(environment, service, outcomes, stored);
    return (
      `${kills} kills in ${kills * creates} creates: ${outcomes.acknowledged.size} acknowledged, ` +
      `${outcomes.unknown.size} interrupted (${stored.length - outcomes.acknowledged.size} of them stored); 0 lost, 0 duplicated, 0 partially stored`
    );
  },
};

async function createUntilKilled(
  environment: ProofEnvironment,
  service: ServiceProcess,
  outcomes: Outcomes,
  { round, creates }: { round: number; creates: number },
): Promise<void> {
  const client = new ApiClient(service.url, await environment.token(), { connections: CONCURRENCY });
  const killAfter = Math.floor(creates * (0.1 + 0.8 * Math.random()));
  const before = outcomes.acknowledged.size;
  await doNumbered(creates, CONCURRENCY, async (index) => {
    const name = `crash-${round}-${index}`;
    try {
      const { status, body } = await client.create(name, { authorization: serviceAccount(name) });
      prove(status === 201, `create answered ${status}: ${JSON.stringify(body)}`);
      outcomes.acknowledged.set(name, String(body['id']));
    } catch (error) {
      if (!isConnectionError(error)) {
        throw error;
      }
      outcomes.unknown.add(name);
    }
    if (outcomes.acknowledged.size - before === killAfter) {
      await service.kill('SIGKILL');
    }
  });
  await client.close();
}

/** Returns an authorization with a different secret for every system, so that mixed-up secrets are detected. */
function serviceAccount(name: string): Record<string, unknown> {
  return {
    type: 'SERVICE_ACCOUNT',
    configuration: { clientId: name, clientSecret: secretOf(name), identityProviderUrl: IDENTITY_PROVIDER },
  };
}

function secretOf(name: string): string {
  return `secret of ${name}`;
}

function isConnectionError(error: unknown): boolean {
  return /^(UND_ERR_SOCKET|ECONNRESET|ECONNREFUSED|EPIPE)$/.test(String((error as { code?: unknown }).code));
}

/** Reads every system back through the list and individually, like a client. */
async function storedSystems(
  environment: ProofEnvironment,
  service: ServiceProcess,
): Promise<SystemRecord[]> {
  const client = new ApiClient(service.url, await environment.token());
  const { status, body } = await client.list();
  prove(status === 200, `list answered ${status}`);
  const summaries = body['systems'] as { resourceId: string }[];
  const records = await doNumbered(summaries.length, CONCURRENCY, async (index) => {
    const answer = await client.getById(String(summaries[index]?.resourceId));
    prove(answer.status === 200, `get-by-id answered ${answer.status} for a listed system`);
    const record = answer.body as unknown as SystemRecord;
    const authorization = answer.body['authorization'] as { type: string; config: { clientId: string } };
    prove(
      authorization.type === 'SERVICE_ACCOUNT' && authorization.config.clientId === record.name,
      `${record.name} lost its authorization`,
    );
    return record;
  });
  await client.close();
  return records;
}

function compare(outcomes: Outcomes, stored: readonly SystemRecord[]): void {
  const byName = new Map(stored.map((record) => [record.name, record]));
  prove(byName.size === stored.length, `${stored.length - byName.size} systems are duplicated`);
  for (const [name, id] of outcomes.acknowledged) {
    prove(byName.get(name)?.id === id, `${name} was acknowledged but is lost`);
  }
  for (const { name } of stored) {
    prove(outcomes.acknowledged.has(name) || outcomes.unknown.has(name), `${name} was never requested`);
  }
}

/** Checks the rows in the database: each system has its definition, and its decrypted secret is the one that was sent. */
async function checkRows(
  environment: ProofEnvironment,
  databaseUrl: string,
  stored: readonly SystemRecord[],
): Promise<void> {
  const cipher = new SecretCipher([environment.secretKey]);
  const systems = await rows(
    databaseUrl,
    `SELECT s.*, d.id AS definition_id FROM systems s
     LEFT JOIN resource_definitions d ON d.id = s.resource_definition_id`,
  );
  prove(systems.length === stored.length, `${systems.length} rows, but ${stored.length} systems listed`);
  for (const row of systems) {
    const name = String(row['resource_name']);
    prove(row['definition_id'] !== null, `${name} has no resource definition`);
    const binding = [
      'base_url',
      'identity_provider_url',
      'client_id',
      'authorization_type',
      'tls_ca',
      'credential_options',
    ].map((column) => row[column] as string | null);
    const place = { table: 'systems', rowId: String(row['id']), column: 'client_secret', binding };
    prove(cipher.open(String(row['client_secret']), place) === secretOf(name), `${name} has a wrong secret`);
  }
}

/** Proves that a retry of an interrupted create gets 201, or 409 if the first attempt was stored. */
async function retryUnknown(
  environment: ProofEnvironment,
  service: ServiceProcess,
  outcomes: Outcomes,
  stored: readonly SystemRecord[],
): Promise<void> {
  const client = new ApiClient(service.url, await environment.token());
  const names = [...outcomes.unknown];
  const present = new Set(stored.map(({ name }) => name));
  await doNumbered(names.length, CONCURRENCY, async (index) => {
    const name = String(names[index]);
    const { status } = await client.create(name, { authorization: serviceAccount(name) });
    const expected = present.has(name) ? 409 : 201;
    prove(status === expected, `retrying ${name} answered ${status} instead of ${expected}`);
  });
  await client.close();
}
