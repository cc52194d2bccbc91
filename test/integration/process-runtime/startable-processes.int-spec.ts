import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  ProcessPageDto,
  StartableProcessDto,
} from '../../../src/runtime/starts/startable-process.dto.js';
import { statementsOf } from '../../support/databases/query-plans.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import { flows, node, processFile, taskProcess, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { start } from '../../support/runtime/runtime-client.js';

const PERMISSION = '403 Insufficient permissions';
const LANE = '403 Insufficient permissions to act in this lane of the process';
const NO_START = '400 Start node for process definition not found.';
const NO_BUILD = '404 Build not found for this application.';
const INPUT_SCHEMA = {
  type: 'object',
  required: ['amount'],
  properties: { amount: { type: 'number', minimum: 1 }, 'a "b" ä': { enum: [null, 1.5, '<&>'] } },
};
/** Valid for every schema of these processes. */
const BODY = { amount: 7 };

const schemaElement = (schema: object): string =>
  `<bpmn:extensionElements><svc:inputSchema><![CDATA[${JSON.stringify(schema)}]]></svc:inputSchema></bpmn:extensionElements>`;
const laneSet = (...nodes: string[]): string =>
  `<bpmn:laneSet id="lanes"><bpmn:lane id="clerks" name="Clerk" svc:execute="clerk">
     ${nodes.map((id) => `<bpmn:flowNodeRef>${id}</bpmn:flowNodeRef>`).join('')}</bpmn:lane></bpmn:laneSet>`;
const strict = processFile(
  'strict',
  `${schemaElement(INPUT_SCHEMA)}
   ${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
);
const laned = processFile(
  'laned',
  `${laneSet('start', 'a')}
   ${node('startEvent', 'start')}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
);
/** One of its start events is in a lane, and another one is started by a message. */
const several = processFile(
  'several',
  `${laneSet('south')}
   ${node('startEvent', 'north', '', 'svc:startCondition="north"')}
   ${node('startEvent', 'south', '', 'svc:startCondition="south"')}
   ${node('startEvent', 'received', '<bpmn:messageEventDefinition messageRef="M_order" svc:correlation=""/>')}
   ${userTask('a')}${node('endEvent', 'end')}${flows('north>a south>a received>a a>end')}`,
  { outside: '<bpmn:message id="M_order" name="order"/>' },
);
/** The process and one of its start events restrict who may start it. */
const guarded = processFile(
  'guarded',
  `${node('startEvent', 'mine', '', 'svc:startCondition="mine"')}
   ${node('startEvent', 'theirs', '', 'svc:startCondition="theirs" svc:start="chief, clerk"')}
   ${userTask('a')}${node('endEvent', 'end')}${flows('mine>a theirs>a a>end')}`,
  { attributes: 'svc:start="chief"' },
);
const ordered = processFile(
  'ordered',
  `${node('startEvent', 'start', '<bpmn:messageEventDefinition messageRef="M_ordered" svc:correlation=""/>')}
   ${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`,
  { outside: '<bpmn:message id="M_ordered" name="ordered"/>' },
);

let app: TestApp;
let open: TestApp;
let published: Published;
let library: Published;

const pathOf = ({ appId, buildId }: Pick<Published, 'appId' | 'buildId'>): string =>
  `/rtm/api/runtime/app/${appId}/build/${buildId}/processes`;
const list = (
  query: Record<string, string> = {},
  { token, of = published, by = app }: { token?: string | null; of?: typeof published; by?: TestApp } = {},
): Promise<TestResponse<ProcessPageDto>> =>
  by.request<ProcessPageDto>(
    'GET',
    `${pathOf(of)}?${new URLSearchParams(query).toString()}`,
    token === undefined ? {} : { token },
  );
const namesOf = ({ body }: TestResponse<ProcessPageDto>): string[] =>
  body.processes.map(({ processDefinitionName }) => processDefinitionName);
const outcomeOf = ({ status, body }: TestResponse<unknown>): string =>
  `${status} ${(body as { message?: string }).message}`;
const tokenOf = (...roles: string[]): Promise<string> =>
  app.tokenWith({ sub: uniqueName('caller'), scope: 'openid', roles });

beforeAll(async () => {
  const rules = {
    'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
    starter: [{ claim: 'roles', hasAt: 'starter' }],
    clerk: [{ claim: 'roles', hasAt: 'clerk' }],
    chief: [{ claim: 'roles', hasAt: 'chief' }],
  };
  const settings = { JOBS_CONCURRENCY: '0', PERMISSION_RULES: JSON.stringify(rules) };
  app = await TestApp.start({ ...settings, PROCESS_START_PERMISSION: 'starter' });
  open = await TestApp.start(settings);
  library = await publish(app, { bpmn: taskProcess('of_library', userTask('a')) });
  published = await publish(app, {
    bpmn: [strict, several, ordered, laned, taskProcess('plain', userTask('a'))],
    libraries: [{ appId: library.appId, buildId: library.buildId }],
  });
});
afterAll(() => Promise.all([app.close(), open.close()]));

describe('GET /rtm/api/runtime/app/{appId}/build/{buildId}/processes', () => {
  it('lists processes by name with start events, conditions and input schemas, but not those of libraries', async () => {
    const token = await tokenOf(`starter@${published.appId}`, `clerk@${published.appId}`);
    const page = await list({}, { token });

    expect(page.status).toBe(200);
    expect(namesOf(page)).toEqual(['laned', 'ordered', 'plain', 'several', 'strict']);
    expect(page.body.next).toBeNull();
    const [one, two, three, four, five] = page.body.processes;
    const startEvent = { startCondition: null, bpmnElementId: 'start', name: 'start', mayStart: true };
    expect(one).toMatchObject({ starts: [{ ...startEvent, lane: 'Clerk' }], inputSchema: null });
    expect(two).toMatchObject({ starts: [], mayStart: false });
    expect(three).toEqual({
      processDefinitionName: 'plain',
      processDefinitionSvcUuid: (await start(app, published, 'plain', {}, { token })).body[
        'processDefinitionSvcUuid'
      ],
      starts: [{ ...startEvent, lane: null }],
      inputSchema: null,
      mayStart: true,
      refusal: null,
    });
    expect(four?.starts).toEqual([
      { startCondition: 'north', bpmnElementId: 'north', name: 'north', lane: null, mayStart: true },
      { startCondition: 'south', bpmnElementId: 'south', name: 'south', lane: 'Clerk', mayStart: true },
    ]);
    expect(five?.inputSchema).toEqual(INPUT_SCHEMA);
  });

  it.each([
    ['all rights', ['starter', 'clerk'], { ordered: NO_START }],
    ['no lane', ['starter'], { ordered: NO_START, laned: LANE }],
    [
      'no permission',
      ['clerk'],
      { ordered: PERMISSION, laned: PERMISSION, plain: PERMISSION, several: PERMISSION, strict: PERMISSION },
    ],
  ] as [string, string[], Record<string, string>][])(
    'predicts the answer to a start for a caller with %s',
    async (_name, permissions, refusals) => {
      const token = await tokenOf(...permissions.map((permission) => `${permission}@${published.appId}`));
      const { body } = await list({}, { token });

      const found = body.processes.flatMap(({ processDefinitionName: name, refusal }) =>
        refusal === null ? [] : [[name, `${refusal.status} ${refusal.message}`]],
      );
      expect(Object.fromEntries(found)).toEqual(refusals);
      for (const process of body.processes) {
        await expectAsStarted(process, token);
      }
    },
  );

  /** Starts the process at each listed start event, or once if there is none, and compares the answers with the list. */
  async function expectAsStarted(process: StartableProcessDto, token: string): Promise<void> {
    const { processDefinitionName: name, starts, mayStart, refusal } = process;
    expect(mayStart).toBe(refusal === null);
    expect(mayStart).toBe(starts.some((one) => one.mayStart));
    const conditions = starts.length === 0 ? [null] : starts.map(({ startCondition }) => startCondition);
    for (const [index, startCondition] of conditions.entries()) {
      const body = startCondition === null ? BODY : { ...BODY, startCondition };
      const answer = await start(app, published, name, body, { token });
      if (starts[index]?.mayStart === true) {
        expect([name, answer.status]).toEqual([name, 200]);
      } else {
        const expected = refusal === null ? LANE : `${refusal.status} ${refusal.message}`;
        expect([name, outcomeOf(answer)]).toEqual([name, expected]);
      }
    }
  }

  it('requires the permissions that the model names instead of the setting', async () => {
    const of = await publish(app, { bpmn: [guarded, taskProcess('plain', userTask('a'))] });
    const permissionsOf = async (...names: string[]) => {
      const token = await tokenOf(...names.map((name) => `${name}@${of.appId}`));
      const [process] = (await list({}, { token, of })).body.processes;
      const answers = [];
      for (const startCondition of ['mine', 'theirs']) {
        answers.push(outcomeOf(await start(app, of, 'guarded', { startCondition }, { token })));
      }
      return {
        starts: process?.starts.map(({ mayStart }) => mayStart),
        refusal: process?.refusal?.status,
        answers,
      };
    };
    const open = '200 undefined';
    expect(await permissionsOf('chief')).toEqual({
      starts: [true, true],
      refusal: undefined,
      answers: [open, open],
    });
    expect(await permissionsOf('clerk')).toMatchObject({
      starts: [false, true],
      answers: [PERMISSION, open],
    });
    expect(await permissionsOf('starter')).toEqual({
      starts: [false, false],
      refusal: 403,
      answers: [PERMISSION, PERMISSION],
    });
    const token = await tokenOf(`clerk@${of.appId}`);
    expect(outcomeOf(await start(app, of, 'guarded', undefined, { token, rawBody: '{' }))).toContain('400');
    expect(outcomeOf(await start(app, of, 'gone', {}, { token }))).toBe(PERMISSION);
    expect(outcomeOf(await start(app, of, 'plain', {}, { token }))).toBe(PERMISSION);
    const [process] = (await list({}, { token, of })).body.processes;
    expect(process?.starts.map(({ startPermissions }) => startPermissions)).toEqual([
      ['chief'],
      ['chief', 'clerk'],
    ]);
  });

  it('lists processes without rights for their application, but a start requires them', async () => {
    const token = await tokenOf(`starter@${library.appId}`, `clerk@${library.appId}`);
    const foreign = await list({}, { token });
    expect(foreign.body.processes.map(({ refusal }) => refusal?.message)).toEqual(
      Array.from({ length: 5 }, () => 'Insufficient permissions'),
    );
    const own = await list({}, { token, of: library });
    expect(own.body.processes).toMatchObject([{ processDefinitionName: 'of_library', mayStart: true }]);
  });

  it('accepts any valid token, which may start processes if no permission is required', async () => {
    const token = await open.tokenWith({ sub: uniqueName('caller'), scope: 'openid' });
    const { body } = await list({}, { token, by: open });
    const startable = body.processes.filter(({ mayStart }) => mayStart);
    expect(startable.map((one) => one.processDefinitionName)).toEqual(['plain', 'several', 'strict']);
    expect(body.processes[3]?.starts.map(({ mayStart }) => mayStart)).toEqual([true, false]);
  });

  it('returns every process across pages', async () => {
    const first = await list({ limit: '2' });
    const second = await list({ limit: '2', after: String(first.body.next) });
    const third = await list({ limit: '2', after: String(second.body.next) });
    expect([first, second, third].map(namesOf)).toEqual([
      ['laned', 'ordered'],
      ['plain', 'several'],
      ['strict'],
    ]);
    expect([first, second, third].map(({ body }) => body.next)).toEqual(['ordered', 'several', null]);
    expect((await list({ after: 'zzz' })).body).toEqual({ processes: [], next: null });
    expect(namesOf(await list({ limit: '5' }))).toHaveLength(5);
  });

  it('reads a page with two statements, and does not cache the definitions', async () => {
    for (let time = 0; time < 2; time += 1) {
      const sent = await statementsOf(open, async () =>
        expect(namesOf(await list({}, { by: open }))).toHaveLength(5),
      );
      expect(sent.filter(({ sql }) => sql.includes('build_definitions'))).toHaveLength(2);
    }
  });

  it('ends a page before its limit if definitions are large', async () => {
    const names = Array.from({ length: 75 }, (_, index) => `p${String(index).padStart(2, '0')}`);
    const schema = { description: 'x'.repeat(60_000) };
    const large = await publish(app, {
      bpmn: names.map((name) =>
        processFile(
          name,
          `${schemaElement(schema)}${node('startEvent', 'start')}${node('endEvent', 'end')}${flows('start>end')}`,
        ),
      ),
    });
    const first = await list({ limit: '200' }, { of: large });
    const count = first.body.processes.length;
    expect(count).toBeGreaterThan(50);
    expect(count).toBeLessThan(75);
    expect(first.body.next).toBe(names[count - 1]);
    const second = await list({ limit: '200', after: String(first.body.next) }, { of: large });
    expect([...namesOf(first), ...namesOf(second)]).toEqual(names);
    expect(second.body.next).toBeNull();
  });

  it('is empty if the build has no processes', async () => {
    const empty = await publish(app, { package: {} });
    expect((await list({}, { of: empty })).body).toEqual({ processes: [], next: null });
  });

  it('answers 401 without a token and 404 to a build that the application does not have', async () => {
    expect((await list({}, { token: null })).status).toBe(401);
    const builds = [
      { ...published, buildId: 'unknown' },
      { ...published, buildId: library.buildId },
      { ...published, appId: uniqueName('app') },
    ];
    for (const of of builds) {
      expect(outcomeOf(await list({}, { of }))).toBe(NO_BUILD);
    }
  });

  it.each([
    ['limit=0', 'limit: must be at least 1'],
    ['limit=201', 'limit: must be at most 200'],
    ['after=a%20b', 'after: must be the value of next from a page'],
    ['after=', 'after: must be the value of next from a page'],
    ['before=plain', 'before: is not a known query parameter'],
  ])('answers 400 to %s', async (query, details) => {
    const { status, body } = await app.request('GET', `${pathOf(published)}?${query}`);
    expect(status).toBe(400);
    expect(body['details']).toContain(details);
  });

  it('answers 400 to a malformed id', async () => {
    const { status, body } = await app.request('GET', pathOf({ ...published, buildId: 'a%20b' }));
    expect(status).toBe(400);
    expect(body['details']).toContain('buildId');
  });
});
