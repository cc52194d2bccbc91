import { startToolListPeer } from '../../test/support/peers/scripted-mcp.peer.js';
import { ApiClient, type SystemRecord } from './support/api-client.js';
import { doNumbered, prove, type Proof } from './support/proof.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { isLinearizable, type RegisterOperation } from './support/register-history.js';

const OPERATIONS = 500;
/** More callers would make the search for a valid order exponentially longer without strengthening the proof. */
const CONCURRENCY = 10;
const TOOL = { name: 'echo', description: 'answers', inputSchema: { type: 'object' } };

export const proof: Proof = {
  name: 'toggle',
  claim: 'concurrent enables, disables and reads of one tool are linearizable',
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['mariadb'],
  async run(environment) {
    const rounds = environment.short ? 1 : 10;
    const peer = await startToolListPeer([TOOL]);
    try {
      const databaseUrl = await environment.emptyDatabase();
      const settings = { EGRESS_ALLOW: new URL(peer.url).host };
      const replicas = environment.kind === 'embedded' ? 1 : 2;
      const services = await Promise.all(
        Array.from({ length: replicas }, () => environment.startService(databaseUrl, settings)),
      );
      const clients = await Promise.all(services.map(({ url }) => callerOf(environment, url)));
      for (let round = 0; round < rounds; round += 1) {
        await toggleOneTool(clients, `toggle-${round}`, peer.url);
      }
      await Promise.all(clients.map((client) => client.close()));
      return `${rounds} x ${OPERATIONS} operations on ${replicas} replica(s): a valid order exists for each`;
    } finally {
      await peer.close();
    }
  },
};

async function callerOf(environment: ProofEnvironment, url: string): Promise<ApiClient> {
  return new ApiClient(url, await environment.token(), { connections: CONCURRENCY });
}

async function toggleOneTool(clients: readonly ApiClient[], name: string, peerUrl: string): Promise<void> {
  const system = await systemWithTool(clients[0]!, name, peerUrl);
  const history = await doNumbered(OPERATIONS, CONCURRENCY, (index) =>
    operate(clients[index % clients.length]!, system),
  );
  prove(isLinearizable(history, system.tools[0]!.enabled), `no order explains the history of ${name}`);
}

async function systemWithTool(client: ApiClient, name: string, baseUrl: string): Promise<SystemRecord> {
  const created = await client.create(name, { baseUrl });
  prove(created.status === 201, `create answered ${created.status}`);
  const test = await client.testConnection(baseUrl);
  prove(test.body['status'] === 200, `the connection test answered ${JSON.stringify(test.body)}`);
  const { body } = await client.getById(String(created.body['resourceId']));
  const system = body as unknown as SystemRecord;
  prove(system.tools.length === 1, `${name} has ${system.tools.length} tools`);
  return system;
}

async function operate(client: ApiClient, system: SystemRecord): Promise<RegisterOperation> {
  const toolId = system.tools[0]!.id;
  const isRead = Math.random() < 0.4;
  const wanted = Math.random() < 0.5;
  const sent = performance.now();
  if (isRead) {
    const { status, body } = await client.getById(system.resourceId);
    prove(status === 200, `get-by-id answered ${status}`);
    const value = (body as unknown as SystemRecord).tools[0]!.enabled;
    return { kind: 'read', value, sent, answered: performance.now() };
  }
  const { status, body } = await client.setEnabled(system, toolId, wanted);
  const answered = performance.now();
  prove(status === 200, `enable answered ${status}: ${JSON.stringify(body)}`);
  prove(
    (body['tool'] as { enabled: boolean }).enabled === wanted,
    'the response does not contain the requested flag',
  );
  return { kind: 'write', value: wanted, sent, answered };
}
