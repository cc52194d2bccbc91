import { FailoverSite, LONGEST_BACK_MS, type Round, type Way } from './support/failover-site.js';
import { Haproxy } from './support/haproxy.js';
import { MysqlGroup } from './support/mysql-group.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';

/** Of the servers that proofs start. */
const SERVER_USER = 'svc';

export const proof: Proof = {
  name: 'failover',
  claim:
    'two replicas of the service follow the writer of a replication group, by DATABASE_URL alone and through HAProxy: nothing acknowledged is lost or done twice, no job is lost, and they stay ready',
  databases: ['mysql'],
  takesLong: true,
  async run(environment) {
    const plugin = await MysqlGroup.pluginFolder();
    if (plugin === undefined) {
      prove(process.env['CI'] === undefined, 'the MySQL of this host has no plugin group_replication');
      return 'skipped: the MySQL of this host has no plugin group_replication';
    }
    const group = await MysqlGroup.start(plugin);
    try {
      const alone = await roundOf(environment, group, {
        name: 'svc_failover',
        places: group.places,
        settings: {},
      });
      const proxied = await throughHaproxy(environment, group);
      const figures = `by DATABASE_URL alone: ${alone.figures}; through HAProxy: ${proxied.figures}`;
      const late = [...alone.late, ...proxied.late];
      prove(
        environment.short || late.length === 0,
        `writes were back later than ${LONGEST_BACK_MS} ms: ${late.join('; ')}. ${figures}`,
      );
      return `${figures}; ${await severalPrimaries(environment, group)}`;
    } finally {
      await group.stop();
    }
  },
};

async function throughHaproxy(environment: ProofEnvironment, group: MysqlGroup): Promise<Round> {
  await group.heal();
  const { server: haproxy, missing } = await Haproxy.start(group, environment.folder);
  if (haproxy === undefined) {
    return { figures: `skipped: ${missing}`, late: [] };
  }
  try {
    return await roundOf(environment, group, {
      name: 'svc_failover_haproxy',
      places: [haproxy.place],
      settings: { DATABASE_WRITER_WAIT_SECONDS: '30' },
    });
  } finally {
    await haproxy.stop();
  }
}

async function roundOf(environment: ProofEnvironment, group: MysqlGroup, way: Way): Promise<Round> {
  const site = await FailoverSite.open(environment, group, way);
  const { short } = environment;
  await site.repeat('switch-over', short ? 1 : 10, () => group.switchOver());
  await site.repeat('primary silent', short ? 1 : 3, () => group.stopPrimary());
  await site.repeat('primary killed', short ? 1 : 10, () => group.killPrimary());
  await site.repeat('replica of the service killed', short ? 1 : 5, () => site.killReplica());
  return site.finish();
}

/** Where several members take writes, locks on rows do not hold: no replica starts there (docs/operations.md, "Database"). */
async function severalPrimaries(environment: ProofEnvironment, group: MysqlGroup): Promise<string> {
  await group.heal();
  await group.setPrimaries('all');
  for (const place of group.places) {
    const databaseUrl = `mysql://${SERVER_USER}:${SERVER_USER}@${place}/svc_failover`;
    const service = await environment.launchService(databaseUrl, { DATABASE_START_WAIT_SECONDS: '0' });
    prove(
      (await service.ended()) !== 0,
      'a replica of the service started on a group with several primaries',
    );
    prove(
      service.outputTail.includes('a replication group with several primaries'),
      `a replica of the service ended for another reason:\n${service.outputTail}`,
    );
  }
  await group.setPrimaries('one');
  return `refused ${group.places.length} times with several primaries`;
}
