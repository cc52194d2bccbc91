import { FailoverSite, MAX_RESUME_MS } from './support/failover-site.js';
import { Haproxy } from './support/haproxy.js';
import { MysqlGroup } from './support/mysql-group.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';

const REPLICAS = 2;

export const proof: Proof = {
  name: 'failover',
  claim:
    'two replicas of the service, each connected through its own HAProxy to a replication group of three servers, lose nothing acknowledged, repeat nothing, and write again within two seconds of a new primary',
  databases: ['mysql'],
  takesLong: true,
  obstacle: () =>
    Promise.all([MysqlGroup.requirePlugin(), Haproxy.requirePrograms()]).then(
      () => undefined,
      (error: Error) => error.message.split('\n', 1)[0],
    ),
  async run(environment) {
    const group = await MysqlGroup.start(await MysqlGroup.requirePlugin());
    const proxies: Haproxy[] = [];
    try {
      for (let index = 0; index < REPLICAS; index += 1) {
        proxies.push(await Haproxy.start(group, environment.folder));
      }
      return await measure(environment, group, proxies);
    } finally {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      await group.stop();
    }
  },
};

async function measure(
  environment: ProofEnvironment,
  group: MysqlGroup,
  proxies: readonly Haproxy[],
): Promise<string> {
  const places = proxies.map(({ address }) => address);
  const site = await FailoverSite.open(environment, group, places);
  const { short } = environment;
  await site.repeat('switch-over', short ? 1 : 10, () => group.switchOver());
  await site.repeat('primary silent', short ? 1 : 3, () => group.stopPrimary());
  await site.repeat('primary killed', short ? 1 : 10, () => group.killPrimary());
  await site.repeat('replica of the service killed', short ? 1 : 5, () => site.killReplica());
  const { figures, late } = await site.finish();
  prove(
    short || late.length === 0,
    `writes resumed later than ${MAX_RESUME_MS} ms: ${late.join('; ')}. ${figures}`,
  );
  return figures;
}
