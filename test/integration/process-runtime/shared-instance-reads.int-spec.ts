import type { Logger } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { PermissionDeniedError } from '../../../src/platform/auth/auth.errors.js';
import type { Principal } from '../../../src/platform/user/principal.js';
import { ProcessInstanceNotFoundError } from '../../../src/runtime/model/process-runtime.errors.js';
import { ALL_LISTS } from '../../../src/runtime/model/instance.params.dto.js';
import type { InstanceResponseDto } from '../../../src/runtime/reading/instance.response.dto.js';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { ProcessInstancesService } from '../../../src/runtime/reading/process-instances.service.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { executed, instancePath, started } from '../../support/runtime/runtime-client.js';

const READER: Principal = {
  issuer: 'https://issuer.example.com',
  subject: 'reader',
  user: { firstName: 'Rita', lastName: 'Reader', userName: 'rita.reader', impersonatingUser: null },
  permissions: new Map([['process-read', 'all']]),
};
const STRANGER: Principal = { ...READER, subject: 'stranger', permissions: new Map() };
const BACK = { actions: [{ name: 'done', manual: true, keys: '*', allowBack: true }] };
const PAGE = 6;
/** Calls `plain`. */
const calling = processFile(
  'calling',
  `${node('startEvent', 'start')}${node('callActivity', 'call', '', 'calledElement="plain"')}${node('endEvent', 'end')}
   ${flows('start>call call>end')}`,
);

describe('concurrent reads of instances', () => {
  let app: TestApp;
  let published: Published;
  let instances: ProcessInstancesService;
  let statements: string[] = [];

  beforeAll(async () => {
    app = await TestApp.start({
      JOBS_CONCURRENCY: '0',
      'databaseLimits.groups': '1',
      'pageLimits.size': String(PAGE),
    });
    published = await publish(app, {
      bpmn: [taskProcess('plain', userTask('a', BACK), userTask('b')), calling],
    });
    instances = app.nest.get(ProcessInstancesService);
    await started(app, published, 'plain', {});
    app.dataSource.logger = {
      logQuery: (query: string) => void statements.push(query),
      logQueryError: () => undefined,
    } as unknown as Logger;
  });
  beforeEach(() => {
    statements = [];
  });
  afterEach(() => void vi.restoreAllMocks());
  afterAll(() => app.close());

  /** Starts counting statements. The clock is frozen, so that reads never yield the event loop in between. */
  const count = (): void => {
    statements = [];
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  };
  const read = (id: string, principal = READER) => instances.get(principal, id, ALL_LISTS);
  const outcomes = (...reads: Promise<InstanceResponseDto>[]) => Promise.allSettled(reads);

  it('share two statements, and return to each caller what a separate read returns', async () => {
    const one = await started(app, published, 'plain', { one: 1 });
    const other = await started(app, published, 'plain', { other: 2 });
    await executed(app, other.uuid, other.token.uuid, ui('a'), { more: 3 });
    const gone = await started(app, published, 'plain', { gone: 4 });
    // More tokens and events than a page has.
    let token = gone.token.uuid;
    for (let round = 0; round < PAGE; round += 1) {
      await executed(app, gone.uuid, token, ui('a'), { round });
      await read(gone.uuid);
      token = (await executed(app, gone.uuid, token, ui('a'), {})).tokenUuid;
    }
    const ids = [one.uuid, other.uuid, gone.uuid];
    const alone: InstanceResponseDto[] = [];
    for (const id of ids) {
      statements = [];
      alone.push(await read(id));
      expect(statements.length).toBeLessThanOrEqual(3);
    }
    expect(alone.map(({ data }) => data)).toMatchObject([{ one: 1 }, { other: 2, more: 3 }, { gone: 4 }]);
    expect(alone[2]?.history).toHaveLength(PAGE);

    count();
    expect(await Promise.all(ids.map((id) => read(id)))).toEqual(alone);
    expect(statements.filter((sql) => /FROM process_instances WHERE uuid/.test(sql))).toHaveLength(1);
    expect(statements.filter((sql) => /FROM process_events/.test(sql))).toHaveLength(1);
  });

  it('show the called processes of each instance', async () => {
    const begin = async (name: string) => (await started(app, published, name, {})).uuid;
    const callers = [await begin('calling'), await begin('calling'), await begin('calling')];
    const called = [await begin('plain'), await begin('plain'), await begin('plain')];
    // Workers are off, so the test makes the calls itself.
    for (const [index, parent] of [0, 0, 1].entries()) {
      const { instanceMetadata } = await read(callers[parent] ?? '');
      await app.dataSource
        .getRepository(ProcessInstanceEntity)
        .update({ uuid: called[index] ?? '' }, { parentId: instanceMetadata.processInstanceId });
    }
    count();
    const shown = await Promise.all(callers.map((id) => read(id)));
    expect(shown.map(({ children }) => children?.map((child) => child.uuid))).toEqual([
      called.slice(0, 2),
      called.slice(2),
      [],
    ]);
    expect(statements).toHaveLength(2);
  });

  it('are not affected by an unknown instance or a refused caller', async () => {
    const one = await started(app, published, 'plain', { one: 1 });
    const other = await started(app, published, 'plain', { other: 2 });
    count();
    const [first, absent, refused, last] = await outcomes(
      read(one.uuid),
      read(uuid()),
      read(one.uuid, STRANGER),
      read(other.uuid),
    );
    expect(first).toMatchObject({ value: { uuid: one.uuid, data: { one: 1 } } });
    expect(absent).toMatchObject({ reason: expect.any(ProcessInstanceNotFoundError) });
    expect(refused).toMatchObject({ reason: expect.any(PermissionDeniedError) });
    expect(last).toMatchObject({ value: { uuid: other.uuid, data: { other: 2 } } });
    expect(statements).toHaveLength(2);
  });

  it('return everything that was stored before each was sent', async () => {
    const { uuid: id, token } = await started(app, published, 'plain', {});
    const end = new AbortController();
    const busy = Array.from({ length: 4 }, async () => {
      while (!end.signal.aborted) {
        expect((await app.request('GET', instancePath(id))).status).toBe(200);
      }
    });
    let current = token.uuid;
    for (let round = 0; round < 10; round += 1) {
      await executed(app, id, current, ui('a'), { round });
      const { body } = await app.request<InstanceResponseDto>('GET', instancePath(id));
      expect(body.data).toMatchObject({ round });
      current = (await executed(app, id, current, ui('a'), {})).tokenUuid;
    }
    end.abort();
    await Promise.all(busy);
  });
});
