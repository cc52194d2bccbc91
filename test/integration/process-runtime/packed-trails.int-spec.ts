import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  HistoryEventDto,
  HistoryPageDto,
} from '../../../src/modules/process-runtime/reading/instance-history.dto.js';
import {
  PACKED,
  ProcessEventEntity,
} from '../../../src/modules/process-runtime/storage/process-event.entity.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { executed, instancePath, started } from '../../support/runtime/runtime-client.js';

/** More automatic nodes than one row has room for the events of. */
const MANY = Array.from({ length: 30 }, (_, index) => `auto${index}`);
const BPMN = processFile(
  'long',
  `${node('startEvent', 'start')}${userTask('a')}${userTask('b')}${MANY.map((id) => node('task', id)).join('')}
   ${node('endEvent', 'end')}
   ${flows(
     `start>a a>b b>${MANY[0]} ${MANY.slice(1)
       .map((id, index) => `${MANY[index]}>${id}`)
       .join(' ')} ${MANY.at(-1)}>end`,
   )}`,
);
const LIMITS = [1, 2, 7, 64, 65, 200];

/** Two replicas on one database: one stores a row for each event, as an earlier release does. */
describe('the audit trail of an instance', () => {
  let packing: TestApp;
  let before: TestApp;
  let published: Published;

  beforeAll(async () => {
    // Each has an issuer of its own.
    const settings = { JOBS_WORKERS: 'false', PROCESS_UI_ACTION_ACCESS: 'any-token' };
    packing = await TestApp.start(settings);
    before = await TestApp.start({ ...settings, PROCESS_EVENTS_PACKED: 'false' });
    published = await publish(packing, { bpmn: BPMN });
  });
  afterAll(async () => {
    await before.close();
    await packing.close();
  });

  const page = async (uuid: string, query: string): Promise<HistoryPageDto> =>
    (await packing.request<HistoryPageDto>('GET', `${instancePath(uuid)}/history?${query}`)).body;
  /** Leads an instance to its end, each step by one of the replicas. */
  const led = async (...replicas: [TestApp, TestApp, TestApp]): Promise<{ uuid: string; id: number }> => {
    const { uuid, token, instanceMetadata } = await started(replicas[0], published, 'long', {});
    await executed(replicas[1], uuid, token.uuid, ui('a'), { one: 1 });
    await executed(replicas[2], uuid, token.uuid, ui('b'), { two: 2 });
    return { uuid, id: instanceMetadata.processInstanceId };
  };
  const rowsOf = (instanceId: number): Promise<ProcessEventEntity[]> =>
    packing.dataSource.getRepository(ProcessEventEntity).findBy({ instanceId });
  /** Without what is another one for each instance. */
  const alike = (events: readonly HistoryEventDto[]): unknown[] =>
    events.map(({ timestamp: _timestamp, requestId: _requestId, tokenUuid, data, ...others }) => ({
      ...others,
      hasToken: tokenUuid !== null,
      data:
        data === null
          ? null
          : Object.entries(data).map(([name, value]) => [name, name === 'uuid' ? '' : value]),
    }));

  it('is the same, whether a row holds one event or those of a step', async () => {
    const [old, packed, mixed] = [
      await led(before, before, before),
      await led(packing, packing, packing),
      await led(before, packing, before),
    ];
    const all = await page(old.uuid, 'limit=200');
    expect(await rowsOf(old.id)).toHaveLength(all.events.length);
    expect((await rowsOf(old.id)).filter(({ kind }) => kind === PACKED)).toEqual([]);
    expect((await rowsOf(packed.id)).every(({ kind }) => kind === PACKED)).toBe(true);
    expect((await rowsOf(packed.id)).length).toBeLessThan(6);
    for (const { uuid } of [packed, mixed]) {
      const trail = await page(uuid, 'limit=200');
      expect(alike(trail.events)).toEqual(alike(all.events));
      const { tokens } = (await packing.request<{ tokens: { uuid: string }[] }>('GET', instancePath(uuid)))
        .body;
      const created = trail.events.find(({ kind }) => kind === 'TOKEN_CREATED');
      expect(created?.data?.['uuid']).toBe(created?.tokenUuid);
      expect(tokens.map((token) => token.uuid)).toContain(created?.tokenUuid);
    }
  });

  it('is read on from any event in both directions, by pages of any size', async () => {
    for (const { uuid } of [await led(packing, packing, packing), await led(packing, before, packing)]) {
      const all = (await page(uuid, 'limit=200')).events;
      for (const limit of LIMITS) {
        for (const from of [1, 2, 5, 20, 64, 65, 66, all.length, all.length + 1]) {
          const older = await page(uuid, `limit=${limit}&before=${from}`);
          const expected = all.filter(({ seq }) => seq < from).slice(0, limit);
          expect(older).toEqual({
            events: expected,
            next: (expected.at(-1)?.seq ?? 1) > 1 ? expected.at(-1)?.seq : null,
          });
          const newer = await page(uuid, `limit=${limit}&after=${from}`);
          const later = all
            .filter(({ seq }) => seq > from)
            .toReversed()
            .slice(0, limit);
          expect(newer).toEqual({
            events: later,
            next: (later.at(-1)?.seq ?? all.length) < all.length ? later.at(-1)?.seq : null,
          });
        }
      }
    }
  });

  it('of an instance shows its newest page', async () => {
    for (const { uuid } of [await led(packing, packing, packing), await led(before, before, packing)]) {
      const newest = await page(uuid, 'limit=50');
      const { body } = await packing.request('GET', instancePath(uuid));
      expect(body).toMatchObject({ history: newest.events, historyNext: newest.next });
      expect(newest.next).not.toBeNull();
    }
  });
});
