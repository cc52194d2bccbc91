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
/** So often that vtgate tells each of the statements. */
const LOOKS = 4;

/** What looks into every shard, and why. */
const BY_NATURE: readonly { what: RegExp; why: string }[] = [
  { what: /from process_instances where .*order by uuid desc/i, why: 'a list is of all shards' },
  { what: /from process_instances where id in/i, why: 'rows of a list are where it found them' },
  { what: /from process_search_values (force index \S+ )?where/i, why: 'a search by data is of all shards' },
  { what: /from process_families|from runtime_jobs.*group by/i, why: 'metrics are of all shards' },
  { what: /process_message_waits/i, why: 'tokens wait for a message where their instances are' },
];

export const proof: Proof = {
  name: 'vitess',
  claim:
    'starts, UI actions, readings, histories, jobs, workflow runs and calls of agents go to one shard each, and no transaction touches two',
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
      return await onBoth(environment, server, { model, tools });
    } finally {
      await server.stop();
      [model, tools].forEach((peer) => peer.stop());
    }
  },
};

async function onBoth(
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
    `${hot.surplus} more shards than statements:\n${told(hot)}`,
  );
  prove(hot.crossing === 0, `${hot.crossing} transactions were committed in several shards`);
  for (let time = 0; time < LOOKS; time += 1) {
    await sharded.lookEverywhere();
  }
  const everywhere = await counts.sent();
  // Otherwise nothing is counted.
  prove(everywhere.surplus > 0 && everywhere.scattered.length > 0, 'a list went to one shard');
  const unknown = everywhere.scattered.filter(({ sql }) => !BY_NATURE.some(({ what }) => what.test(sql)));
  prove(
    unknown.length === 0,
    `these need not look everywhere:\n${told({ ...everywhere, scattered: unknown })}`,
  );
  const causes = BY_NATURE.filter(({ what }) => everywhere.scattered.some(({ sql }) => what.test(sql)));
  return (
    `of ${hot.executions} executions 0 went to several shards, ${orders} orders and ${orders} agents included; 0 transactions touched two; ` +
    `to all shards by nature: ${causes.map(({ why }) => why).join(', ')}`
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

function told({ scattered }: Sent): string {
  return scattered
    .map(({ sql, executions, routes }) => `${routes} routes of ${executions} executions: ${sql}`)
    .join('\n');
}
