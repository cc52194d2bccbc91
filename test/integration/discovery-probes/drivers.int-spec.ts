import { register } from 'node:module';
import { describe, expect, it } from 'vitest';
import { component, runProbe } from '../../support/discovery/run-probe.js';

const DRIVERS = [
  ['pg', 'postgresql', 'postgresql://127.0.0.1:1/db'],
  ['ioredis', 'redis', 'redis://127.0.0.1:1'],
  ['mongodb', 'mongodb', 'mongodb://127.0.0.1:1'],
  ['kafkajs', 'kafka', 'kafka://127.0.0.1:1'],
] as const;

/** Module resolver that hides the drivers, as in an installation without optional packages. */
const HIDES_DRIVERS = `
  const drivers = /(^|\\/node_modules\\/)(${DRIVERS.map(([name]) => name).join('|')})(\\/|$)/;
  export const resolve = (specifier, context, next) =>
    next(drivers.test(specifier) ? 'package-that-is-not-installed' : specifier, context);
`;

describe('a driver that is not installed', () => {
  register(`data:text/javascript,${encodeURIComponent(HIDES_DRIVERS)}`);

  it.each(DRIVERS)('is named: %s', async (packageName, kind, endpoint) => {
    const target = component(kind, endpoint, { credentials: { username: 'a', password: 'b' } });
    await expect(runProbe(target)).rejects.toMatchObject({ failure: 'driver', detail: packageName });
  });
});
