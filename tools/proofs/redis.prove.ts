import { startCluster, startSentinelGroup, type RedisGroup } from './support/redis-groups.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import { RedisSite, type RedisRound } from './support/redis-site.js';

export const proof: Proof = {
  name: 'redis',
  claim:
    'with three replicas under load, one of them without workers, while Redis (with Sentinels and as a cluster) is killed, emptied, out of memory and failed over and replicas are killed: no acknowledged order and no job is lost or repeated, every start and action is answered, replicas stay ready, and limits are counted per replica while Redis is down and globally afterwards',
  databases: ['mysql', 'mariadb'],
  shortDatabases: ['mysql'],
  takesLong: true,
  async run(environment) {
    const sentinels = await roundsWith(environment, startSentinelGroup);
    const cluster = await roundsWith(environment, startCluster);
    const late = [...sentinels.late, ...cluster.late];
    const figures = `Sentinels: ${sentinels.figures}; cluster: ${cluster.figures}; 0 lost, 0 duplicated`;
    const notReady = sentinels.notReady + cluster.notReady;
    prove(notReady === 0, `replicas were not ready ${notReady} times. ${figures}`);
    // Short runs share the processors with other proofs.
    prove(
      environment.short || late.length === 0,
      `writes resumed later than 2 s: ${late.join('; ')}. ${figures}`,
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
      // The kind of Redis makes no difference here, so a short run does this once.
      if (!environment.short || startGroup === startCluster) {
        await site.killReplica();
      }
    }
    return await site.finish();
  } finally {
    await group.stop();
  }
}
