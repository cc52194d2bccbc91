import {
  scratchDatabase,
  startDatabases,
  type TestDatabase,
} from '../../test/support/databases/start-databases.js';
import { reasonNoVtcombo, Vtcombo } from '../../test/support/databases/vtcombo.js';
import { CountingPeer } from './support/helper-process.js';
import { PRICED, PricedSide, type AgentPeers, VitessCounts, type Sent } from './support/priced-side.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';

const WORKER = 1;
/** Number of repetitions until vtgate reports each statement. */
const REPETITIONS = 4;

/** Statements that must query every shard, with the reason. */
const EXPECTED_SCATTER: readonly { what: RegExp; why: string }[] = [
  { what: /from process_instances where .*order by uuid desc/i, why: 'lists cover all shards' },
  {
    what: /from process_instances where id in/i,
    why: 'rows of a list are read from the shards that contain them',
  },
  { what: /from process_search_values (force index \S+ )?where/i, why: 'searches by data cover all shards' },
  { what: /from process_families|from runtime_jobs.*group by/i, why: 'metrics cover all shards' },
  { what: /process_message_waits/i, why: 'tokens that wait for a message are stored with their instances' },
];

export const proof: Proof = {
  name: 'vitess',
  claim:
    'starts, UI actions, reads, histories, jobs, workflow runs and agent calls use one shard each, and no transaction uses two',
  databases: ['mysql'],
  takesLong: true,
  obstacle: () => reasonNoVtcombo(true),
  async run(environment) {
    const [model, tools, server] = await Promise.all([
      CountingPeer.start('./agent-model.process.ts'),
      CountingPeer.start('./agent-tools.process.ts'),
      startServer(environment.short),
    ]);
    try {
      return await compare(environment, server, { model, tools });
    } finally {
      await server.stop();
      [model, tools].forEach((peer) => peer.stop());
    }
  },
};

async function compare(
  environment: ProofEnvironment,
  { url }: TestDatabase,
  peers: AgentPeers,
): Promise<string> {
  const vtcombo = await Vtcombo.start(url, [WORKER]);
  try {
    const database = { databaseUrl: await scratchDatabase(url, 'svc_plain'), settings: {} };
    const shards = { databaseUrl: vtcombo.url(WORKER), settings: Vtcombo.settings(WORKER) };
    const plain = await PricedSide.open(environment, database, peers);
    const sharded = await PricedSide.open(environment, shards, peers);
    const counted = await countShards(environment, await VitessCounts.of(vtcombo), { plain, sharded });
    await Promise.all([plain.close(), sharded.close()]);
    return `${prices(plain, sharded)}; ${counted}`;
  } finally {
    await vtcombo.stop();
  }
}

async function countShards(
  { short }: ProofEnvironment,
  counts: VitessCounts,
  { plain, sharded }: { plain: PricedSide; sharded: PricedSide },
): Promise<string> {
  const [rounds, count, orders] = short ? [1, 100, 8] : [5, 2_000, 200];
  for (let round = 0; round < rounds; round += 1) {
    for (const side of [plain, sharded]) {
      await side.measure(count, String(round));
    }
  }
  await sharded.orders(orders);
  await sharded.agents(orders);
  const hot = await counts.sent();
  prove(
    hot.surplus === 0 && hot.scattered.length === 0,
    `${hot.surplus} more shards than statements:\n${formatScattered(hot)}`,
  );
  prove(hot.crossing === 0, `${hot.crossing} transactions were committed in several shards`);
  for (let time = 0; time < REPETITIONS; time += 1) {
    await sharded.queryAllShards();
  }
  const everywhere = await counts.sent();
  // Verifies the counting itself.
  prove(everywhere.surplus > 0 && everywhere.scattered.length > 0, 'a list used a single shard');
  const unknown = everywhere.scattered.filter(
    ({ sql }) => !EXPECTED_SCATTER.some(({ what }) => what.test(sql)),
  );
  prove(
    unknown.length === 0,
    `these need not query all shards:\n${formatScattered({ ...everywhere, scattered: unknown })}`,
  );
  const causes = EXPECTED_SCATTER.filter(({ what }) =>
    everywhere.scattered.some(({ sql }) => what.test(sql)),
  );
  return (
    `of ${hot.executions} executions 0 used several shards, including ${orders} orders and ${orders} agents; 0 transactions used two; ` +
    `necessarily on all shards: ${causes.map(({ why }) => why).join(', ')}`
  );
}

function prices(plain: PricedSide, sharded: PricedSide): string {
  return PRICED.map((what) => {
    const [alone, apart] = [plain.price(what), sharded.price(what)];
    const figures = [alone, apart].map(
      ({ perSecond, p50 }) => `${perSecond.toFixed(0)}/s (p50 ${p50.toFixed(1)} ms)`,
    );
    return `${what} ${figures.join(' on MySQL, ')} on two shards: ${(apart.perSecond / alone.perSecond).toFixed(2)}`;
  }).join('; ');
}

async function startServer(fast: boolean): Promise<TestDatabase> {
  const { databases, missing } = await startDatabases(['mysql'], { settings: Vtcombo.serverSettings, fast });
  const [server] = databases;
  prove(server !== undefined, missing.map(({ reason }) => reason).join());
  return server;
}

function formatScattered({ scattered }: Sent): string {
  return scattered
    .map(({ sql, executions, routes }) => `${routes} routes of ${executions} executions: ${sql}`)
    .join('\n');
}
