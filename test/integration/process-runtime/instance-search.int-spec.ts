import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InstanceListsRepository } from '../../../src/runtime/storage/instance-lists.repository.js';
import type { InstancePageDto } from '../../../src/runtime/reading/instance.response.dto.js';
import { statementsOf } from '../../support/databases/query-plans.js';
import { TestApp } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import {
  taskProcess,
  flows,
  node,
  processFile,
  serviceTask,
  ui,
  userTask,
} from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, executed, instancePath, start, started } from '../../support/runtime/runtime-client.js';
import { childRows } from '../../support/runtime/runtime-rows.js';

const PATH = '/rtm/api/runtime/process-instance';
const TRANSACTION = /^(BEGIN|START TRANSACTION|COMMIT|ROLLBACK)/;

/** Returns the same process with these searchable paths. */
const searchable = (file: string, paths: string): string =>
  file.replace('isExecutable="true"', `isExecutable="true" svc:searchable="${paths}"`);

const orders = searchable(
  taskProcess('orders', userTask('a'), userTask('b'), userTask('c')),
  "client.id, open, ['sent by'].name, lines[0]",
);
const silent = taskProcess('silent', userTask('a'));
const called = searchable(
  taskProcess('called', serviceTask('set', [{ name: 'set', inner: '<svc:data>{"found":"yes"}</svc:data>' }])),
  'client.id, found',
);
const calling = searchable(
  processFile(
    'calling',
    `${node('startEvent', 'start')}${node('callActivity', 'call', '', 'calledElement="called" svc:outputKey="result"')}${userTask('a')}${node('endEvent', 'end')}
   ${flows('start>call call>a a>end')}`,
  ),
  'result.found',
);
const picky = searchable(
  processFile(
    'picky',
    `${node('startEvent', 'start')}${node('exclusiveGateway', 'g')}${userTask('a')}${node('endEvent', 'x')}${node('endEvent', 'y')}
   ${flows('start>g g>a[amount > 1] g>y[amount <= 1] a>x')}`,
  ),
  'client.id, amount',
);

let app: TestApp;
/** Replica without background work. */
let quiet: TestApp;
let published: Published;

beforeAll(async () => {
  app = await TestApp.start({ 'jobLimits.pollMs': '20' });
  quiet = await TestApp.start({ JOBS_CONCURRENCY: '0' });
  published = await publish(app, { bpmn: [orders, silent, called, calling, picky] });
});
afterAll(async () => {
  await quiet.close();
  await app.close();
});

const list = (query: [string, string][], token?: string | null) =>
  app.request<InstancePageDto & { details: string }>(
    'GET',
    `${PATH}?${new URLSearchParams(query).toString()}`,
    token === undefined ? {} : { token },
  );
/** Returns the ids of the instances with all of these values, in any application. */
const found = async (...terms: string[]): Promise<string[]> =>
  (await list(terms.map((term) => ['data', term]))).body.instances.map(({ uuid }) => uuid);
const begun = async (data: object, process = 'orders', on = app): Promise<string> => {
  const { uuid } = await started(on, published, process, data);
  // UUIDs of the same millisecond have no defined order.
  await new Promise((resolve) => setTimeout(resolve, 3));
  return uuid;
};

/** Returns the statements of `work`, without those that begin and end transactions. */
const sentBy = async (work: () => Promise<unknown>): Promise<{ sql: string }[]> =>
  (await statementsOf(quiet, work)).filter(({ sql }) => !TRANSACTION.test(sql));

describe('instances found by their data', () => {
  it('are found by a text, a number or a boolean', async () => {
    const client = uniqueName('client');
    const one = await begun({ client: { id: client }, open: true, 'sent by': { name: 'a:b' } });
    const other = await begun({ client: { id: client }, open: false, 'sent by': { name: 1.5 }, lines: [7] });
    await begun({ client: { id: client } }, 'silent');

    expect(await found(`client.id:${client}`)).toEqual([other, one]);
    expect(await found(`client["id"]:${client}`, 'open:true')).toEqual([one]);
    expect(await found('open:false', `client.id:${client}`)).toEqual([other]);
    expect(await found(`client.id:${client}`, '["sent by"].name:a:b')).toEqual([one]);
    expect(await found(`client.id:${client}`, "['sent by'].name:1.5", 'lines[0]:7')).toEqual([other]);
    expect(await found(`client.id:${client}`, 'open:yes')).toEqual([]);
    expect(await found(`client.id:${client.toUpperCase()}`)).toEqual([]);
    expect(await found(`client.id:${client} `)).toEqual([]);
  });

  it('are not found by undeclared paths, or by objects, null and texts that are too long', async () => {
    const client = uniqueName('client');
    await begun({ client: { id: { inner: client }, name: client }, open: null });
    await begun({ client: { id: '' }, lines: [] });
    await begun({ client: { id: client + 'x'.repeat(256) } });

    expect(await found(`client.name:${client}`)).toEqual([]);
    expect(await found(`client:${client}`)).toEqual([]);
    expect(await found(`client.id.inner:${client}`)).toEqual([]);
    expect(await found('open:null')).toEqual([]);
  });

  it('are found by long values, too', async () => {
    const id = uniqueName('long');
    const value = id + '😀'.repeat(255 - id.length);
    const one = await begun({ client: { id: value } });
    expect(await found(`client.id:${value}`)).toEqual([one]);
    expect((await list([['data', `client.id:${value}x`]])).status).toBe(400);
  });

  it('can be filtered further, and read page by page', async () => {
    const client = uniqueName('client');
    const uuids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      uuids.unshift(await begun({ client: { id: client }, open: index % 2 === 0 }));
    }
    await app.request('POST', `${instancePath(uuids[1] ?? '')}/hold`);
    const data: [string, string] = ['data', `client.id:${client}`];
    const listed = async (...query: [string, string][]): Promise<string[]> =>
      (await list([data, ...query])).body.instances.map(({ uuid }) => uuid);

    for (const maxSearched of [1_000, 2]) {
      Object.assign(app.nest.get(InstanceListsRepository), { maxSearched });
      expect(await listed(['applicationId', published.appId])).toEqual(uuids);
      expect(await listed(['applicationId', uniqueName('other')])).toEqual([]);
      expect(await listed(['state', 'ONHOLD'])).toEqual([uuids[1]]);
      expect(await listed(['processDefinitionName', 'orders'], ['data', 'open:true'])).toEqual([
        uuids[0],
        uuids[2],
        uuids[4],
      ]);
      expect(await listed(['hasIncidents', 'true'])).toEqual([]);
      expect(await listed(['hasIncidents', 'false'], ['applicationId', published.appId])).toEqual(uuids);
      const more: [string, string][][] = [[], [['applicationId', published.appId]]];
      for (const query of more) {
        const seen: string[] = [];
        for (let next: string | null = ''; next !== null;) {
          const page: [string, string][] = [
            ['limit', '2'],
            ...(next === '' ? [] : [['before', next] as [string, string]]),
          ];
          const { body } = await list([data, ...query, ...page]);
          seen.push(...body.instances.map(({ uuid }) => uuid));
          next = body.next;
        }
        expect(seen).toEqual(uuids);
      }
    }
    Object.assign(app.nest.get(InstanceListsRepository), { maxSearched: 1_000 });
    const { body } = await list([data]);
    const from = String(body.instances[1]?.startedAt);
    expect(await listed(['from', from])).toEqual(uuids.slice(0, 2));
    expect(await listed(['to', from])).toEqual(uuids.slice(2));
  });

  it('are only those that the caller may see', async () => {
    const client = uniqueName('client');
    const john = await app.tokenWith({ sub: 'john', scope: 'openid' });
    await begun({ client: { id: client } });
    const { body } = await start(app, published, 'orders', { client: { id: client } }, { token: john });

    const { body: seen } = await list([['data', `client.id:${client}`]], john);
    expect(seen.instances.map(({ uuid }) => uuid)).toEqual([body.uuid]);
    expect(await found(`client.id:${client}`)).toHaveLength(2);
  });

  it('are searched with a path, a colon and a value', async () => {
    expect((await list([['data', 'a:1']], null)).status).toBe(401);
    for (const term of ['', 'a', 'a:', ':1', 'a..b:1', 'a[x]:1', '__proto__:1', `${'a.'.repeat(80)}a:1`]) {
      const { status, body } = await list([['data', term]]);
      expect([term, status]).toEqual([term, 400]);
      expect(body.details).toMatch(/^data: must /);
    }
    const five = Array.from({ length: 5 }, (_, index): [string, string] => ['data', `a:${index}`]);
    expect(await list(five)).toMatchObject({
      status: 400,
      body: { details: 'data: must be given at most 4 times' },
    });
    expect((await list(five.slice(1))).status).toBe(200);
  });
});

describe('searchable values are updated', () => {
  it('after a UI action, with another statement only if they have changed', async () => {
    const [before, after] = [uniqueName('client'), uniqueName('client')];
    const executing = (data: object) => async () => {
      const { body } = await quiet.request<{
        tokens: { uuid: string; bpmnElementId: string; state: string }[];
      }>('GET', instancePath(uuid));
      const token = body.tokens.find(({ state }) => state === 'ACTIVE');
      return executed(quiet, uuid, token?.uuid ?? '', ui(token?.bpmnElementId ?? ''), data);
    };
    let uuid = await begun({}, 'orders', quiet);
    const started = await sentBy(async () => {
      uuid = await begun({ client: { id: before }, open: true }, 'orders', quiet);
    });
    const of = (statements: { sql: string }[]): number =>
      statements.filter(({ sql }) => sql.includes('process_search_values')).length;
    const inStart = started.filter(({ sql }) => !sql.includes(' FROM builds '));
    expect([inStart.length, of(started)]).toEqual([4, 1]);

    const unsearched = `${PATH}?applicationId=${published.appId}`;
    expect(of(await sentBy(() => quiet.request('GET', unsearched)))).toBe(0);
    expect(of(await sentBy(executing({ note: 'x', client: { id: before } })))).toBe(0);
    expect(await found(`client.id:${before}`)).toEqual([uuid]);
    expect(of(await sentBy(executing({ client: { id: after }, open: 7, lines: ['l'] })))).toBe(1);
    expect(await found(`client.id:${before}`)).toEqual([]);
    expect(await found(`client.id:${after}`, 'open:7', 'lines[0]:l')).toEqual([uuid]);
    expect(of(await sentBy(executing({ client: { id: null } })))).toBe(1);
    expect(await found(`client.id:${after}`)).toEqual([]);
  });

  it('in called processes and their callers', async () => {
    const client = uniqueName('client');
    const uuid = await begun({ client: { id: client } }, 'calling');
    const [child] = await eventually(
      () => childRows(app, uuid),
      (rows) => rows[0]?.state === 'FINISHED',
    );
    expect(await found(`client.id:${client}`)).toEqual([child?.uuid]);
    expect(await found(`client.id:${client}`, 'found:yes')).toEqual([child?.uuid]);
    await eventually(
      async () =>
        (
          await list([
            ['data', 'result.found:yes'],
            ['applicationId', published.appId],
          ])
        ).body.instances,
      (instances) => instances.some((one) => one.uuid === uuid),
    );
  });

  it('in an instance that could not start and was corrected', async () => {
    const client = uniqueName('client');
    const { status, body } = await start(app, published, 'picky', { client: { id: client }, amount: 'many' });
    expect(status).toBe(409);
    const uuid = body.incident?.processInstanceUuid ?? '';
    expect(await found(`client.id:${client}`, 'amount:many')).toEqual([uuid]);

    const retried = await app.request('POST', `${instancePath(uuid)}/retry`, {
      body: { data: { amount: 5 } },
    });
    expect(retried.status).toBe(200);
    expect(await found(`client.id:${client}`, 'amount:many')).toEqual([]);
    expect(await found(`client.id:${client}`, 'amount:5')).toEqual([uuid]);
  });

  it('in concurrent starts', async () => {
    const client = uniqueName('client');
    const uuids = await Promise.all(
      Array.from(
        { length: 12 },
        async (_, index) =>
          (await started(app, published, 'orders', { client: { id: client }, open: index })).uuid,
      ),
    );
    expect((await found(`client.id:${client}`)).toSorted()).toEqual(uuids.toSorted());
    expect(await found(`client.id:${client}`, 'open:3')).toEqual([uuids[3]]);
  });
});
