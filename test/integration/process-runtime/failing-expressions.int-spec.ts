import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { JobQueueService } from '../../../src/jobs/queue/job-queue.service.js';
import { TestApp } from '../../support/app.js';
import {
  flows,
  node,
  processFile,
  serviceTask,
  timerEvent,
  ui,
  userTask,
} from '../../support/runtime/process-files.js';
import { publish, type Published, sequence, mapping, workflowOf } from '../../support/runtime/publish.js';
import {
  eventually,
  execute,
  instancePath,
  start,
  type StopBody,
} from '../../support/runtime/runtime-client.js';

const MESSAGES = '<bpmn:message id="M" name="notified" svc:correlation="order.id"/>';
const timer = (text: string): string => timerEvent('timeDuration', text);
const date = (text: string): string => timerEvent('timeDate', text);
const message = '<bpmn:messageEventDefinition messageRef="M"/>';

/** Variants of the node `x` that fails, with further nodes and flows. */
const PLACES: Record<string, { at: string; more?: string; way?: string }> = {
  gateway: {
    at: node('exclusiveGateway', 'x', '', 'default="x_end"'),
    more: userTask('other'),
    way: 'x>other[n > 3] other>end x>end',
  },
  inclusive: {
    at: node('inclusiveGateway', 'x', '', 'default="x_end"'),
    more: userTask('other'),
    way: 'x>other[n > 3] other>end x>end',
  },
  task: {
    at: node('task', 'x', '', 'default="x_end"'),
    more: userTask('other'),
    way: 'x>other[n > 3] other>end x>end',
  },
  timer: { at: node('intermediateCatchEvent', 'x', timer('${n}')) },
  date: { at: node('intermediateCatchEvent', 'x', date('${n}')) },
  boundary: {
    at: userTask('x'),
    more: `${node('boundaryEvent', 'b', timer('${n}'), 'attachedToRef="x"')}${userTask('other')}`,
    way: 'x>end b>other other>end',
  },
  delay: { at: serviceTask('x', [{ name: 'save', delay: '${n}', inner: '<svc:data>{"a": 1}</svc:data>' }]) },
  timeout: { at: node('receiveTask', 'x', '', 'messageRef="M" svc:correlation="" svc:timeout="${n}"') },
  catching: { at: node('intermediateCatchEvent', 'x', message) },
  throwing: { at: node('intermediateThrowEvent', 'x', message) },
  sending: {
    at: serviceTask('x', [
      { name: 'send', kind: 'sendMessage', message: 'notified', correlation: 'order.id' },
    ]),
  },
  collection: {
    at: node(
      'callActivity',
      'x',
      '<bpmn:multiInstanceLoopCharacteristics svc:collection="n"/>',
      'calledElement="short"',
    ),
  },
};

const short = processFile(
  'short',
  `${node('startEvent', 'start')}${node('endEvent', 'end')}${flows('start>end')}`,
);
const drawn = (name: string, first: boolean): string => {
  const { at, more = '', way = 'x>end' } = PLACES[name]!;
  return processFile(
    `${name}_${first ? 'first' : 'later'}`,
    `${node('startEvent', 'start')}${first ? '' : userTask('ask')}${at}${more}${node('endEvent', 'end')}
     ${flows(`${first ? 'start>x' : 'start>ask ask>x'} ${way}`)}`,
    { outside: MESSAGES },
  );
};

/** Returns a process whose node `x` works in the background. */
const asking = (name: string, at: string): string =>
  processFile(name, `${node('startEvent', 'start')}${at}${node('endEvent', 'end')}${flows('start>x x>end')}`);
/** Waits for a message, and fails after it. */
const RECEIVER = processFile(
  'receiver',
  `${node('startEvent', 'start')}${node('intermediateCatchEvent', 'catch', message)}${PLACES['gateway']!.at}
   ${PLACES['gateway']!.more}${node('endEvent', 'end')}${flows(`start>catch catch>x ${PLACES['gateway']!.way}`)}`,
  { outside: MESSAGES },
);
const WORKFLOWS = [
  workflowOf('typed', [mapping('m', {})], {
    inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
  }),
  workflowOf('choosing', [
    {
      id: 'c',
      type: 'CONDITION',
      conditions: [
        { id: 'much', expression: 'n > 3', nextNodeId: 'm', order: 1 },
        { id: 'else', nextNodeId: 'end', order: 2, isDefault: true },
      ],
      outgoingSequences: [sequence('c', 'm'), sequence('c', 'end')],
    },
    mapping('m', {}),
  ]),
];

describe('an expression that fails on the data', () => {
  let app: TestApp;
  let published: Published;
  beforeAll(async () => {
    app = await TestApp.shared({ 'jobLimits.pollMs': '20' });
    published = await publish(app, {
      package: { workflows: WORKFLOWS },
      bpmn: [
        short,
        RECEIVER,
        asking('input', serviceTask('x', [{ name: 'run', kind: 'startWorkflow', workflow: 'typed' }])),
        asking('workflow', serviceTask('x', [{ name: 'run', kind: 'startWorkflow', workflow: 'choosing' }])),
        asking('called', node('callActivity', 'x', '', 'calledElement="gateway_first"')),
        ...Object.keys(PLACES).flatMap((name) => [drawn(name, true), drawn(name, false)]),
      ],
    });
  });
  afterAll(() => app.close());

  const no = "found no matching overload for '_>_' applied to '(string, int)'";
  const duration = 'which is not an ISO 8601 duration of at most 100 years.';

  it.each([
    ['gateway', {}, 400, 'GATEWAY_EVALUATION', 'The expression "n > 3" failed: unknown variable: n'],
    ['gateway', { n: 'no' }, 409, 'GATEWAY_EVALUATION', `The expression "n > 3" failed: ${no}`],
    ['inclusive', { n: 'no' }, 409, 'GATEWAY_EVALUATION', `The expression "n > 3" failed: ${no}`],
    ['task', {}, 400, 'CONDITION_EVALUATION', 'The expression "n > 3" failed: unknown variable: n'],
    ['task', { n: 'no' }, 409, 'CONDITION_EVALUATION', `The expression "n > 3" failed: ${no}`],
    ['timer', { n: 'no' }, 409, 'DEFINITION', `A timer is set to "no", ${duration}`],
    ['timer', {}, 400, 'DEFINITION', `A timer refers to missing data: n. A timer is set to "", ${duration}`],
    ['date', { n: {} }, 409, 'DEFINITION', 'A timer is set to "{}", which is not an ISO 8601 date.'],
    ['boundary', {}, 400, 'DEFINITION', 'A timer refers to missing data: n.'],
    ['delay', {}, 400, 'DEFINITION', 'A timer refers to missing data: n.'],
    ['timer', { n: 'P101Y' }, 409, 'DEFINITION', `A timer is set to "P101Y", ${duration}`],
    ['timeout', { n: 1e300 }, 409, 'DEFINITION', `A timer is set to "1e+300", ${duration}`],
    [
      'catching',
      {},
      400,
      'CONDITION_EVALUATION',
      'The expression "order.id" failed: unknown variable: order',
    ],
    [
      'throwing',
      { order: 7 },
      400,
      'CONDITION_EVALUATION',
      'The expression "order.id" failed: field not found: id',
    ],
    ['sending', {}, 400, 'CONDITION_EVALUATION', 'The expression "order.id" failed: unknown variable: order'],
    ['collection', {}, 400, 'CONDITION_EVALUATION', 'The expression "n" failed: unknown variable: n'],
    ['collection', { n: 'no' }, 409, 'NODE', 'The collection n is not a list.'],
  ])(
    'is reported the same way at the start and after an action: %s with %j',
    async (name, data, status, code, message) => {
      const answers = [await start(app, published, `${name}_first`, data), await later(name, data)];
      for (const answer of answers) {
        const { incident, message: text = '' } = answer.body;
        expect({ status: answer.status, ...incident }).toMatchObject({
          status,
          code,
          bpmnElementId: 'x',
          message: expect.stringContaining(message),
        });
        expect(text).toBe(`The process stopped with an incident: ${incident?.message}`);
        const kept = await app.request<{ incidents: { uuid: string }[] }>(
          'GET',
          instancePath(incident?.processInstanceUuid ?? ''),
        );
        expect(kept.body.incidents.map(({ uuid }) => uuid)).toEqual([incident?.uuid]);
      }
    },
  );

  async function later(name: string, data: object): ReturnType<typeof execute> {
    const { body } = await start(app, published, `${name}_later`, {});
    return execute(app, body.uuid, body.tokens[0]?.uuid ?? '', ui('ask'), data);
  }

  it.each(['called', 'input', 'workflow'])(
    'in the background causes an incident of the requesting instance: %s',
    async (name) => {
      const { status, body } = await start(app, published, name, { n: 'no' });
      expect(status).toBe(200);
      const { body: seen } = await eventually(
        () => app.request<{ incidents: (StopBody & { type: string })[] }>('GET', instancePath(body.uuid)),
        ({ body: { incidents } }) => incidents.length > 0,
      );
      expect(seen.incidents).toMatchObject([
        name === 'called'
          ? { type: 'SUBPROCESS', message: expect.stringMatching(/^CHILD_NOT_STARTED.*n > 3/) }
          : { type: 'WORKFLOW', message: expect.stringMatching(name === 'input' ? /INPUT/ : /n > 3/) },
      ]);
    },
  );

  it('after a message causes an incident of the receiver, whose jobs count for its family', async () => {
    const added = vi.spyOn(app.nest.get(JobQueueService), 'add');
    const order = { id: 'A' };
    const { body: waiting } = await start(app, published, 'receiver', { order, n: 'no' });
    await start(app, published, 'throwing_first', { order });
    const { body: seen } = await eventually(
      () => app.request<{ incidents: StopBody[] }>('GET', instancePath(waiting.uuid)),
      ({ body: { incidents } }) => incidents.length > 0,
    );
    expect(seen.incidents).toMatchObject([{ bpmnElementId: 'x' }]);
    const jobs = added.mock.calls.flatMap(([, rows]) => rows);
    expect(jobs.map(({ kind }) => kind)).toContain('DELIVERY');
    expect(
      jobs.filter(({ instanceId, familyId }) => instanceId !== undefined && familyId === undefined),
    ).toEqual([]);
    added.mockRestore();
  });
});
