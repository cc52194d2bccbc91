import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DiscoveryResult } from '../../../src/discovery/model/scan.types.js';
import {
  DiscoveryChangeEntity,
  DiscoveryScanEntity,
} from '../../../src/discovery/storage/discovery.entity.js';
import { TestApp } from '../../support/app.js';
import {
  FakePlatform,
  healthy,
  refused,
  histories,
  PlatformModel,
  toComponent,
} from '../../support/discovery/fake-platform.js';

const PATH = '/api/platform/discover';

interface Scan {
  id: number;
  startedAt: string;
  finishedAt: string;
  requestedBy: string;
  totalServices: number;
  newServicesFound: number;
  result: DiscoveryResult;
}
interface Change {
  id: number;
  scanId: number;
  key: string;
  event: string;
  status: string | null;
  error: string | null;
}

let app: TestApp;
let platform: FakePlatform;
beforeAll(async () => {
  app = await TestApp.shared({ 'discoveryLimits.scansKept': '8', 'discoveryLimits.changesKept': '20' });
  platform = FakePlatform.in(app.nest);
});
afterAll(() => app.close());

const rescan = async (): Promise<DiscoveryResult> => (await app.request<DiscoveryResult>('GET', PATH)).body;
const scans = async (query = '') =>
  (await app.request<{ scans: Scan[]; next: number | null }>('GET', `${PATH}/scans${query}`)).body;
const changes = async (query = '') =>
  (await app.request<{ changes: Change[]; next: number | null }>('GET', `${PATH}/changes${query}`)).body;

describe('the history', () => {
  it('counts changes as a model does, for random sequences of events', async () => {
    const model = new PlatformModel();
    model.scan();
    await rescan();
    const [sequence = []] = fc.sample(fc.array(histories, { minLength: 4, maxLength: 4 }), 1);
    for (const events of sequence.flat().slice(0, 40)) {
      events.forEach((event) => model.apply(event));
      const expected = model.scan();
      platform.components = model.components.map(toComponent);
      // Keys repeat across maps, so a component is identified by map and key.
      platform.run = async (checked, context) => {
        const found = model.components.find(({ map, key }) => map === checked.map && key === checked.key);
        return (found?.isUp === true ? healthy({ version: found.version }) : refused)(context, checked);
      };
      const { newServicesFound, configurationChanges } = (await rescan()).summary;
      expect({ newServices: newServicesFound, configurationChanges }).toEqual(expected);
    }
  });

  it('stores scans with the response that their callers got', async () => {
    const answer = await rescan();
    const { scans: found } = await scans('?limit=1');
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      requestedBy: 'jane.doe',
      finishedAt: answer.scanTimestamp,
      totalServices: answer.totalServices,
      newServicesFound: 0,
    });
    expect(found[0]).not.toHaveProperty('result');
    const { body } = await app.request<Scan>('GET', `${PATH}/scans/${found[0]?.id}`);
    expect(body).toEqual({ ...found[0], result: answer });
    expect(JSON.stringify(body.result)).toBe(JSON.stringify(answer));
  });

  it('records when a component is added, fails, recovers, changes and is removed', async () => {
    platform.components = [];
    const at = async (prepare: () => void): Promise<void> => {
      prepare();
      await rescan();
    };
    platform.run = FakePlatform.prototype.run.bind(platform);
    // Removes the components of the previous test in a scan of its own, so that their changes cannot displace "added".
    await rescan();
    await at(() => platform.add('journey', healthy({ version: '1.0' })));
    await at(() => platform.behaviours.set('journey', refused));
    await at(() => platform.behaviours.set('journey', healthy({ version: '2.0' })));
    await at(() => (platform.components = []));
    const { changes: found, next } = await changes('?key=journey');
    expect(next).toBeNull();
    expect(found.map(({ event, status, error }) => [event, status, error])).toEqual([
      ['removed', null, null],
      ['healthy', 'healthy', null],
      ['changed', 'healthy', null],
      ['unhealthy', 'unhealthy', 'The connection was refused.'],
      ['added', 'healthy', null],
    ]);
    expect(found[1]?.scanId).toBe(found[2]?.scanId);
  });

  it('returns pages without gaps, and keeps only the configured number of entries', async () => {
    for (let count = 0; count < 10; count += 1) {
      platform.components = [];
      platform.add(`one-${count}`);
      platform.add(`two-${count}`);
      await rescan();
    }
    const all: number[] = [];
    for (let query = '?limit=3'; ;) {
      const { scans: page, next } = await scans(query);
      all.push(...page.map(({ id }) => id));
      if (next === null) {
        break;
      }
      query = `?limit=3&before=${next}`;
    }
    const stored = await app.dataSource.manager.find(DiscoveryScanEntity, { order: { id: 'DESC' } });
    expect(all).toHaveLength(8);
    expect(all).toEqual(stored.map(({ id }) => id));
    const changeIds: number[] = [];
    for (let query = '?limit=7'; ;) {
      const { changes: page, next } = await changes(query);
      changeIds.push(...page.map(({ id }) => id));
      if (next === null) {
        break;
      }
      query = `?limit=7&before=${next}`;
    }
    expect(changeIds).toHaveLength(20);
    expect(changeIds).toEqual(changeIds.toSorted((one, other) => other - one));
    expect(await app.dataSource.manager.count(DiscoveryChangeEntity)).toBe(20);
    expect((await app.request('GET', `${PATH}/scans/${(all.at(-1) ?? 0) - 1}`)).status).toBe(404);
  });

  it('filters by the time when scans were completed', async () => {
    for (let count = 0; count < 3; count += 1) {
      platform.components = [];
      platform.add(`late-${count}`);
      await rescan();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const { scans: all } = await scans();
    const { finishedAt } = all[1]!;
    const ids = all.map(({ id }) => id);
    const idsOf = async (query: string): Promise<number[]> => (await scans(query)).scans.map(({ id }) => id);
    expect(await idsOf(`?from=${finishedAt}`)).toEqual(ids.slice(0, 2));
    expect(await idsOf(`?to=${finishedAt}`)).toEqual(ids.slice(2));
    expect(await idsOf(`?from=${finishedAt}&before=${ids[0]}`)).toEqual(ids.slice(1, 2));
    const scansOf = async (query: string): Promise<number[]> => {
      const { changes: found } = await changes(`?limit=100&${query}`);
      return [...new Set(found.map(({ scanId }) => scanId))];
    };
    expect(await scansOf(`from=${finishedAt}`)).toEqual(ids.slice(0, 2));
    expect(await scansOf(`from=${finishedAt}&key=late-1`)).toEqual(ids.slice(0, 2));
    expect(await scansOf(`from=${finishedAt}&key=late-0`)).toEqual(ids.slice(1, 2));
    expect(await scansOf(`to=${finishedAt}&key=late-1`)).toEqual([]);
    expect(await scansOf(`to=${finishedAt}&key=late-0`)).toEqual(ids.slice(2, 3));
  });

  it.each([
    `${PATH}/scans?limit=0`,
    `${PATH}/scans?from=x`,
    `${PATH}/changes?to=x`,
    `${PATH}/scans?limit=101`,
    `${PATH}/scans?before=x`,
    `${PATH}/scans/x`,
    `${PATH}/scans/1.5`,
    `${PATH}/scans/99999999999999999999`,
    `${PATH}/changes?key=a%20b`,
    `${PATH}/changes?before=-1`,
  ])('answers 400 to GET %s', async (path) => {
    expect((await app.request('GET', path)).status).toBe(400);
  });

  it('answers 404 for an unknown scan', async () => {
    const { status, body } = await app.request('GET', `${PATH}/scans/999999`);
    expect(status).toBe(404);
    expect(body['message']).toBe('Scan not found.');
  });
});
