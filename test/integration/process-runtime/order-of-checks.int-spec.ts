import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp, type TestResponse } from '../../support/app.js';
import { flows, node, processFile, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { execute, start, startPath, type CallOptions } from '../../support/runtime/runtime-client.js';

const SETTINGS = {
  JOBS_CONCURRENCY: '0',
  PROCESS_START_PERMISSION: 'process-administration',
  PROCESS_UI_ACTION_PERMISSION: 'process-administration',
  PERMISSION_RULES: JSON.stringify({
    'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
    'process-administration': [{ claim: 'scope', has: 'act' }],
    clerk: [{ claim: 'scope', has: 'clerk' }],
  }),
};

const MESSAGES = {
  noToken: '401 Authentication required or failed.',
  noPermission: '403 Insufficient permissions to administer processes',
  unknownBuild: '404 Build not found for this application.',
  unknownProcess: '404 Process definition not found.',
  unknownInstance: '404 Process instance not found.',
  unknownAction: '404 UI action not found for this process.',
  lane: '403 Insufficient permissions to act in this lane of the process',
  unknownToken: '404 Token not found for this process instance.',
  unreadable: '400 Request body is not valid JSON.',
  forbiddenName: '400 Request validation failed.',
  condition: '400 Request validation failed.',
  platform: '400 Request validation failed.',
  key: '400 Request validation failed.',
  schema: '400 Some mandatory params are missing.',
  bodySchema: '400 Request validation failed.',
  ended: '409 The token is not active.',
  reused: '409 The Idempotency-Key was used for a request with another body.',
} as const;
type Fault = keyof typeof MESSAGES;

/** Groups of faults, in the order in which the service reports them. */
const START_ORDER = [
  ['noToken'],
  ['noPermission'],
  ['unknownBuild', 'unknownProcess'],
  ['lane'],
  ['unreadable', 'forbiddenName', 'condition', 'platform', 'key', 'schema'],
  ['reused'],
] as const satisfies Fault[][];
const ACTION_ORDER = [
  ['noToken'],
  ['noPermission'],
  ['unknownInstance', 'unknownAction'],
  ['lane'],
  ['unknownToken'],
  ['unreadable', 'forbiddenName', 'key', 'bodySchema'],
  ['ended', 'reused'],
] as const satisfies Fault[][];

/** Pairs of faults that one request cannot have, because one of them rules out the other. */
const EXCLUSIVE: readonly (readonly Fault[])[] = [
  ['unknownBuild', 'lane'],
  ['unknownProcess', 'lane'],
  ['unknownBuild', 'reused'],
  ['unknownProcess', 'reused'],
  ['unreadable', 'reused'],
  ['key', 'reused'],
  ['unknownInstance', 'lane'],
  ['unknownAction', 'lane'],
  ['unknownInstance', 'reused'],
  ['unknownAction', 'reused'],
  ['unknownToken', 'reused'],
  ['unknownToken', 'ended'],
  ['unknownInstance', 'ended'],
];

function pairsOf(order: readonly (readonly Fault[])[]): [first: Fault, later: Fault][] {
  return order.flatMap((faults, index) =>
    faults.flatMap((first) =>
      order
        .slice(index + 1)
        .flat()
        .filter((later) => !EXCLUSIVE.some((pair) => pair.includes(first) && pair.includes(later)))
        .map((later): [Fault, Fault] => [first, later]),
    ),
  );
}

const schema = (text: object): string =>
  `<bpmn:extensionElements><svc:inputSchema>${JSON.stringify(text)}</svc:inputSchema></bpmn:extensionElements>`;
const laned = processFile(
  'laned',
  `${schema({ type: 'object', required: ['amount'] })}
   <bpmn:laneSet id="lanes"><bpmn:lane id="clerk" svc:execute="clerk">
     <bpmn:flowNodeRef>start</bpmn:flowNodeRef><bpmn:flowNodeRef>a</bpmn:flowNodeRef><bpmn:flowNodeRef>end</bpmn:flowNodeRef>
   </bpmn:lane></bpmn:laneSet>
   ${node('startEvent', 'start')}
   ${userTask('a', {
     actions: [{ name: 'done', manual: true, keys: '*' }],
     uiActions: {
       done: '<svc:bodySchema>{"type":"object","properties":{"n":{"type":"number"}}}</svc:bodySchema>',
     },
   })}
   ${node('endEvent', 'end')}${flows('start>a a>end')}`,
);
const mixed = processFile(
  'mixed',
  `<bpmn:laneSet id="lanes">
     <bpmn:lane id="clerk" svc:execute="clerk"><bpmn:flowNodeRef>north</bpmn:flowNodeRef></bpmn:lane>
     <bpmn:lane id="all"><bpmn:flowNodeRef>south</bpmn:flowNodeRef><bpmn:flowNodeRef>a</bpmn:flowNodeRef><bpmn:flowNodeRef>end</bpmn:flowNodeRef></bpmn:lane>
   </bpmn:laneSet>
   ${node('startEvent', 'north', '', 'svc:startCondition="north"')}${node('startEvent', 'south', '', 'svc:startCondition="south"')}
   ${userTask('a')}${node('endEvent', 'end')}${flows('north>a south>a a>end')}`,
);

function answerOf({ status, body }: TestResponse<{ message?: string }>): string {
  return `${status} ${body.message ?? ''}`;
}

describe('the order in which faults of a request are reported', () => {
  let app: TestApp;
  let published: Published;
  let clerk: string;
  let other: string;
  let stranger: string;
  let unprivileged: string;

  beforeAll(async () => {
    app = await TestApp.start(SETTINGS);
    published = await publish(app, { bpmn: [laned, mixed] });
    clerk = await app.tokenWith({ sub: 'same', scope: 'act clerk' });
    other = await app.tokenWith({ sub: 'same', scope: 'act' });
    unprivileged = await app.tokenWith({ sub: 'same', scope: 'openid' });
    stranger = await app.tokenWith({ sub: 'same', scope: 'openid clerk' });
  });
  afterAll(() => app.close());

  const tokenFor = (faults: readonly Fault[]): string | null => {
    if (faults.includes('noToken')) {
      return null;
    }
    const [able, unable] = faults.includes('noPermission') ? [stranger, unprivileged] : [clerk, other];
    return faults.includes('lane') ? unable : able;
  };
  const optionsFor = (faults: readonly Fault[], used: string): CallOptions => ({
    token: tokenFor(faults),
    ...(faults.includes('unreadable') ? { rawBody: '{"' } : {}),
    ...(faults.includes('key') ? { key: 'not one' } : faults.includes('reused') ? { key: used } : {}),
    ...(faults.includes('platform') ? { headers: { 'svc-platform': 'no platform' } } : {}),
  });

  describe('of a start', () => {
    const send = (faults: readonly Fault[], used: string) => {
      const body = {
        ...(faults.includes('schema') ? {} : { amount: 2 }),
        ...(faults.includes('condition') ? { startCondition: 7 } : {}),
        ...(faults.includes('forbiddenName') ? { prototype: 1 } : {}),
      };
      const target = { ...published, ...(faults.includes('unknownBuild') ? { buildId: 'none' } : {}) };
      const name = faults.includes('unknownProcess') ? 'none' : 'laned';
      const sent = faults.includes('unreadable') ? undefined : body;
      return start(app, target, name, sent, optionsFor(faults, used));
    };

    it.each(START_ORDER.flat())('reports %s alone', async (fault) => {
      const used = uuid();
      await start(app, published, 'laned', { amount: 1 }, { token: clerk, key: used });

      expect(answerOf(await send([fault], used))).toBe(MESSAGES[fault]);
    });

    it.each(pairsOf(START_ORDER))('reports %s before %s', async (first, later) => {
      const used = uuid();
      await start(app, published, 'laned', { amount: 1 }, { token: clerk, key: used });

      expect(answerOf(await send([first, later], used))).toBe(MESSAGES[first]);
    });

    it('parses the body first if only one of several start events is in a lane', async () => {
      const answer = async (body: object | undefined, options: CallOptions = {}) =>
        answerOf(await start(app, published, 'mixed', body, { token: other, ...options }));

      expect(await answer(undefined, { rawBody: '{"' })).toBe(MESSAGES.unreadable);
      expect(await answer({})).toMatch(/^400 Multiple start nodes found/);
      expect(await answer({ startCondition: 'north' }, { key: 'not one' })).toBe(MESSAGES.lane);
      expect(await answer({ startCondition: 'north' }, { headers: { 'svc-platform': '' } })).toBe(
        MESSAGES.lane,
      );
      expect(await answer({ startCondition: 'south' })).toBe('200 ');
    });

    it('does not replay an answer to a caller who may no longer start the process', async () => {
      const key = uuid();
      await start(app, published, 'laned', { amount: 1 }, { token: clerk, key });

      expect(answerOf(await start(app, published, 'laned', { amount: 1 }, { token: other, key }))).toBe(
        MESSAGES.lane,
      );
    });

    it('answers 400 for a malformed name, after 401 and 403', async () => {
      const path = startPath(published, 'a b');
      const status = async (token: string | null) =>
        (await app.request('POST', path, { token, rawBody: '{"', headers: { 'svc-platform': 'web' } }))
          .status;

      expect([await status(null), await status(stranger), await status(clerk)]).toEqual([401, 403, 400]);
    });
  });

  describe('of a UI action', () => {
    const prepared = async (): Promise<{ process: string; token: string; used: string }> => {
      const { body } = await start(app, published, 'laned', { amount: 1 }, { token: clerk });
      return { process: body.uuid, token: body.tokens[0]?.uuid ?? '', used: uuid() };
    };
    const send = async (faults: readonly Fault[]) => {
      const { process, token, used } = await prepared();
      if (faults.includes('ended') || faults.includes('reused')) {
        await execute(app, process, token, ui('a', 'done'), { n: 1 }, { token: clerk, key: used });
      }
      const body = {
        n: faults.includes('bodySchema') ? 'many' : 2,
        ...(faults.includes('forbiddenName') ? { prototype: 1 } : {}),
      };
      return execute(
        app,
        faults.includes('unknownInstance') ? uuid() : process,
        faults.includes('unknownToken') ? uuid() : token,
        faults.includes('unknownAction') ? 'none' : ui('a', 'done'),
        faults.includes('unreadable') ? undefined : body,
        optionsFor(faults, used),
      );
    };

    it.each(ACTION_ORDER.flat())('reports %s alone', async (fault) => {
      expect(answerOf(await send([fault]))).toBe(MESSAGES[fault]);
    });

    it.each(pairsOf(ACTION_ORDER))('reports %s before %s', async (first, later) => {
      expect(answerOf(await send([first, later]))).toBe(MESSAGES[first]);
    });

    it('does not replay an answer to a caller who may no longer act in the lane', async () => {
      const { process, token } = await prepared();
      const call = (bearer: string) =>
        execute(app, process, token, ui('a', 'done'), { n: 1 }, { token: bearer, key: 'k' });
      await call(clerk);

      expect(answerOf(await call(other))).toBe(MESSAGES.lane);
      expect((await call(clerk)).status).toBe(200);
    });
  });
});
