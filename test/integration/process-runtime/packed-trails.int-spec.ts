import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HistoryPageDto } from '../../../src/runtime/reading/instance-history.dto.js';
import { ProcessEventEntity } from '../../../src/runtime/storage/process-event.entity.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { executed, instancePath, started } from '../../support/runtime/runtime-client.js';

/** Automatic nodes with more events than one row can hold. */
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

describe('the history of an instance', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.shared({ JOBS_CONCURRENCY: '0' });
    published = await publish(app, { bpmn: BPMN });
  });
  afterAll(() => app.close());

  const page = async (uuid: string, query: string): Promise<HistoryPageDto> =>
    (await app.request<HistoryPageDto>('GET', `${instancePath(uuid)}/history?${query}`)).body;
  /** Runs an instance to its end, in three steps. */
  const finished = async (): Promise<{ uuid: string; id: number }> => {
    const { uuid, token, instanceMetadata } = await started(app, published, 'long', {});
    await executed(app, uuid, token.uuid, ui('a'), { one: 1 });
    await executed(app, uuid, token.uuid, ui('b'), { two: 2 });
    return { uuid, id: instanceMetadata.processInstanceId };
  };
  const rowsOf = (instanceId: number): Promise<ProcessEventEntity[]> =>
    app.dataSource.getRepository(ProcessEventEntity).findBy({ instanceId });

  it('is stored in one row per step, or a few if a step has many events', async () => {
    const { uuid, id } = await finished();
    const { events } = await page(uuid, 'limit=200');
    expect(events.length).toBeGreaterThan(64);
    expect((await rowsOf(id)).length).toBeLessThan(6);
    const { tokens } = (await app.request<{ tokens: { uuid: string }[] }>('GET', instancePath(uuid))).body;
    const created = events.find(({ kind }) => kind === 'TOKEN_CREATED');
    expect(created?.data?.['uuid']).toBe(created?.tokenUuid);
    expect(tokens.map((token) => token.uuid)).toContain(created?.tokenUuid);
  });

  it('can be read from any event in both directions, in pages of any size', async () => {
    const { uuid } = await finished();
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
  });

  it('is returned with the instance as its newest page', async () => {
    const { uuid } = await finished();
    const newest = await page(uuid, 'limit=50');
    const { body } = await app.request('GET', instancePath(uuid));
    expect(body).toMatchObject({ history: newest.events, historyNext: newest.next });
    expect(newest.next).not.toBeNull();
  });
});
