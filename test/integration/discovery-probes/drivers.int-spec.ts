import { register } from 'node:module';
import { describe, expect, it } from 'vitest';
import { Clock } from '../../../src/common/clock.js';
import { KafkaProbe } from '../../../src/modules/discovery/probes/kinds/kafka.probe.js';
import { MongodbProbe } from '../../../src/modules/discovery/probes/kinds/mongodb.probe.js';
import { PostgresqlProbe } from '../../../src/modules/discovery/probes/kinds/postgresql.probe.js';
import { RedisProbe } from '../../../src/modules/discovery/probes/kinds/redis.probe.js';
import type { Probe } from '../../../src/modules/discovery/model/probe.js';
import { component, runProbe } from '../../support/discovery/run-probe.js';

const clock = new Clock();
const PROBES: [packageName: string, probe: Probe, endpoint: string][] = [
  ['pg', new PostgresqlProbe(clock), 'postgresql://127.0.0.1:1/db'],
  ['ioredis', new RedisProbe(clock), 'redis://127.0.0.1:1'],
  ['mongodb', new MongodbProbe(new Clock()), 'mongodb://127.0.0.1:1'],
  ['kafkajs', new KafkaProbe(clock), 'kafka://127.0.0.1:1'],
];

/** Makes Node.js look for the drivers where they are not, as after an installation without optional packages. */
const HIDES_DRIVERS = `
  const drivers = /(^|\\/node_modules\\/)(${PROBES.map(([name]) => name).join('|')})(\\/|$)/;
  export const resolve = (specifier, context, next) =>
    next(drivers.test(specifier) ? 'package-that-is-not-installed' : specifier, context);
`;

describe('a driver that is not installed', () => {
  register(`data:text/javascript,${encodeURIComponent(HIDES_DRIVERS)}`);

  it.each(PROBES)('is named: %s', async (packageName, probe, endpoint) => {
    const target = component(probe.kind, endpoint, { credentials: { username: 'a', password: 'b' } });
    await expect(runProbe(probe, target)).rejects.toMatchObject({ failure: 'driver', detail: packageName });
  });
});
