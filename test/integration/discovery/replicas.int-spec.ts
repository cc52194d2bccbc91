import { afterEach, describe, expect, it, vi } from 'vitest';
import type { DiscoveryResult } from '../../../src/discovery/model/scan.types.js';
import {
  DiscoveryScanEntity,
  DiscoveryStateEntity,
} from '../../../src/discovery/storage/discovery.entity.js';
import { TestApp } from '../../support/app.js';
import { after, FakePlatform } from '../../support/discovery/fake-platform.js';

const PATH = '/api/platform/discover';
const isServer = !String(process.env['DATABASE_URL']).startsWith('sqlite:');

interface Replica {
  app: TestApp;
  platform: FakePlatform;
}

let replicas: Replica[] = [];
afterEach(async () => {
  await Promise.all(replicas.map(({ app }) => app.close()));
  replicas = [];
});

async function start(settings: Record<string, string> = {}): Promise<Replica> {
  const app = await TestApp.start(settings);
  const replica = { app, platform: FakePlatform.in(app.nest) };
  replicas.push(replica);
  return replica;
}

const rescan = async ({ app }: Replica): Promise<DiscoveryResult> => {
  const { status, body } = await app.request<DiscoveryResult>('GET', PATH);
  expect(status).toBe(200);
  return body;
};

describe.runIf(isServer)('two replicas on one database', () => {
  it('make at most two scans for a burst of requests, and return the same results', async () => {
    const [one, other] = [await start(), await start()];
    replicas.forEach(({ platform }) => platform.add('slow', after(1_500)));
    const before = Date.now();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => rescan(index % 2 === 0 ? one : other)),
    );
    expect(one.platform.scans + other.platform.scans).toBeLessThanOrEqual(2);
    expect(new Set(answers.map((body) => JSON.stringify(body))).size).toBeLessThanOrEqual(2);
    expect(answers.every(({ scanTimestamp }) => Date.parse(scanTimestamp) >= before)).toBe(true);
  });

  it('do not return a scan that the other replica began before the request', async () => {
    const [one, other] = [await start(), await start()];
    one.platform.add('a', after(800));
    other.platform.add('a', after(10));
    const first = rescan(one);
    await vi.waitFor(() => expect(one.platform.checks).toBe(1));
    other.platform.add('b');
    const second = await rescan(other);
    expect(Object.keys(second.services)).toContain('b');
    expect(Object.keys((await first).services)).not.toContain('b');
    expect(other.platform.scans).toBe(1);
    expect(second.summary.newServicesFound).toBe(1);
  });

  it('take over from a crashed replica once its lease has expired', async () => {
    const one = await start({ 'discoveryLimits.leaseMs': '1000' });
    await rescan(one);
    await one.app.dataSource
      .createQueryBuilder()
      .update(DiscoveryStateEntity)
      .set({
        holder: 'crashed',
        begun: () => 'begun + 1',
        heldUntil: () => 'UTC_TIMESTAMP(3) + INTERVAL 1 SECOND',
      })
      .where('name = :name', { name: 'scan' })
      .execute();
    const begin = performance.now();
    await rescan(one);
    expect(performance.now() - begin).toBeGreaterThan(500);
  });

  it('discard a scan whose lease another replica took, and wait for the scan of that replica', async () => {
    const [one, other] = [
      await start({ 'discoveryLimits.leaseMs': '60000' }),
      await start({ 'discoveryLimits.leaseMs': '60000' }),
    ];
    one.platform.add('a', after(1_000));
    other.platform.add('b');
    const first = rescan(one);
    await vi.waitFor(() => expect(one.platform.checks).toBe(1));
    await one.app.dataSource
      .createQueryBuilder()
      .update(DiscoveryStateEntity)
      .set({ holder: null })
      .where('name = :name', { name: 'scan' })
      .execute();
    const count = await one.app.dataSource.manager.count(DiscoveryScanEntity);
    const second = await rescan(other);
    expect(await first).toEqual(second);
    expect(await one.app.dataSource.manager.count(DiscoveryScanEntity)).toBe(count + 1);
  });
});
