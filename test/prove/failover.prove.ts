import { FailoverSite, type Way } from './support/failover-site.js';
import { Haproxy } from './support/haproxy.js';
import { MysqlGroup } from './support/mysql-group.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';

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
      return `by DATABASE_URL alone: ${alone}; through HAProxy: ${await throughHaproxy(environment, group)}`;
    } finally {
      await group.stop();
    }
  },
};

async function throughHaproxy(environment: ProofEnvironment, group: MysqlGroup): Promise<string> {
  await group.heal();
  const { server: haproxy, missing } = await Haproxy.start(group, environment.folder);
  if (haproxy === undefined) {
    return `skipped: ${missing}`;
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

/** @returns the figures */
async function roundOf(environment: ProofEnvironment, group: MysqlGroup, way: Way): Promise<string> {
  const site = await FailoverSite.open(environment, group, way);
  const { short } = environment;
  await site.repeat('switch-over', short ? 1 : 10, () => group.switchOver());
  await site.repeat('primary silent', short ? 1 : 3, () => group.stopPrimary());
  await site.repeat('primary killed', short ? 1 : 10, () => group.killPrimary());
  await site.repeat('replica of the service killed', short ? 1 : 5, () => site.killReplica());
  return site.finish();
}
