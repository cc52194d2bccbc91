import { startCluster, startSentinelGroup, type RedisGroup } from './support/redis-groups.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import { RedisSite, type RedisRound } from './support/redis-site.js';

export const proof: Proof = {
  name: 'redis',
  claim:
    'Redis that is killed, emptied, without memory and failed over, by Sentinels and in a cluster, and replicas of the service that are killed, under the load of three replicas, of which one has no workers: no acknowledged order and no job is lost or done twice, every start and action is answered, replicas stay ready, and limits count in each replica alone while Redis is away and in all together when it is back',
  databases: ['mysql', 'mariadb'],
  shortDatabases: ['mysql'],
  takesLong: true,
  async run(environment) {
    const sentinels = await roundsWith(environment, startSentinelGroup);
    const cluster = await roundsWith(environment, startCluster);
    const late = [...sentinels.late, ...cluster.late];
    const figures = `Sentinels: ${sentinels.figures}; cluster: ${cluster.figures}; 0 lost, 0 twice`;
    const notReady = sentinels.notReady + cluster.notReady;
    prove(notReady === 0, `${notReady} times not ready. ${figures}`);
    // In a short round others work on the same cores.
    prove(
      environment.short || late.length === 0,
      `writes were back later than 2 s: ${late.join('; ')}. ${figures}`,
    );
    return figures;
  },
};

async function roundsWith(
  environment: ProofEnvironment,
  startGroup: () => Promise<RedisGroup>,
): Promise<RedisRound> {
  const group = await startGroup();
  try {
    const site = await RedisSite.open(environment, group);
    for (let round = 0; round < (environment.short ? 1 : 5); round += 1) {
      await site.round();
      // It is the same, whatever Redis is: once is enough in a short round.
      if (!environment.short || startGroup === startCluster) {
        await site.killReplica();
      }
    }
    return await site.finish();
  } finally {
    await group.stop();
  }
}
