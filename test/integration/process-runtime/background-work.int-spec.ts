import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shardOf } from '../../../src/store/shards.js';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { TestApp } from '../../support/app.js';
import {
  flows,
  node,
  processFile,
  serviceTask,
  taskProcess,
  timerEvent,
  ui,
  userTask,
} from '../../support/runtime/process-files.js';
import { publish, type Published, mapping, workflowOf } from '../../support/runtime/publish.js';
import { eventually, execute, executed, started } from '../../support/runtime/runtime-client.js';
import {
  childRows,
  eventRows,
  incidentRows,
  instanceRow,
  stateOf,
  tokenRows,
} from '../../support/runtime/runtime-rows.js';

const duration = (text: string): string => timerEvent('timeDuration', text);

const rating = processFile(
  'rating',
  `${node('startEvent', 'start')}${serviceTask('s', [
    { name: 'rate', kind: 'startWorkflow', workflow: 'rate', resultKey: 'rating' },
  ])}${userTask('a')}${node('endEvent', 'end')}${flows('start>s s>a a>end')}`,
);
const failing = processFile(
  'failing',
  `${node('startEvent', 'start')}${serviceTask('s', [{ name: 'rate', kind: 'startWorkflow', workflow: 'broken' }])}
   ${userTask('a')}${node('endEvent', 'end')}${flows('start>s s>a a>end')}`,
);
const appending = processFile(
  'appending',
  `${node('startEvent', 'start')}${serviceTask('s', [
    { name: 'append', kind: 'appendToParent', inner: '<svc:path from="found" to="child.found"/>' },
  ])}${userTask('c')}${node('endEvent', 'end')}${flows('start>s s>c c>end')}`,
);
const callerOf = (name: string, called: string, more = '', waysMore = ''): string =>
  processFile(
    name,
    `${node('startEvent', 'start')}${userTask('first', {
      actions: [{ name: 'go', manual: true, keys: '*', allowBack: true }],
    })}
     ${node('callActivity', 'call', '', `calledElement="${called}"`)}${more}${userTask('a')}${node('endEvent', 'end')}
     ${flows(`start>first first>call call>a a>end${waysMore}`)}`,
  );
const again = processFile(
  'again',
  `${node('startEvent', 'start')}${node('callActivity', 'call', '', 'calledElement="again"')}${node('endEvent', 'end')}
   ${flows('start>call call>end')}`,
);
const detached = processFile(
  'detached',
  `${node('startEvent', 'start')}${serviceTask('s', [{ name: 'other', kind: 'startSubprocess', process: 'child' }])}
   ${userTask('a')}${node('endEvent', 'end')}${flows('start>s s>a a>end')}`,
);
const expiring = callerOf('expiring', 'child').replace(
  'isExecutable="true"',
  'isExecutable="true" svc:expiresAfter="PT1H"',
);

describe('workflows and called processes in the background', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.start({
      'jobLimits.pollMs': '20',
      'processLimits.callDepth': '2',
      'processLimits.repeatWindowMs': '0',
    });
    published = await publish(app, {
      bpmn: [
        rating,
        failing,
        appending,
        taskProcess('child', userTask('c')),
        callerOf('caller', 'child'),
        callerOf('appendingCaller', 'appending'),
        callerOf(
          'impatient',
          'child',
          node('boundaryEvent', 'late', duration('PT0.5S'), 'attachedToRef="call"'),
          ' late>a',
        ),
        again,
        detached,
        expiring,
      ],
      package: {
        workflows: [
          workflowOf('rate', [mapping('rate', { score: '${amount}' })]),
          workflowOf('broken', [mapping('broken', { is: '${amount / 0}' })]),
        ],
      },
    });
  });
  afterAll(() => app.close());

  const oneChild = async (parentUuid: string): Promise<ProcessInstanceEntity> => {
    const [child] = await eventually(
      () => childRows(app, parentUuid),
      (rows) => rows.length > 0,
    );
    return child as ProcessInstanceEntity;
  };

  describe('workflows', () => {
    it('run with the data of the process, and their output lets the token continue', async () => {
      const { uuid, token } = await started(app, published, 'rating', { amount: 7 });
      const { content } = await eventually(
        () => instanceRow(app, uuid),
        (row) => row.content.data['rating'] !== undefined,
      );

      expect(JSON.stringify(content.data['rating'])).toContain('"score":7');
      await executed(app, uuid, token.uuid, ui('a'));
      expect(await stateOf(app, uuid)).toBe('FINISHED');
    });

    it('that fail stop the token with an incident', async () => {
      const { uuid, token, instanceMetadata } = await started(app, published, 'failing', { amount: 7 });
      const incidents = await eventually(
        () => incidentRows(app, instanceMetadata.processInstanceId),
        (rows) => rows.length > 0,
      );

      expect(incidents).toMatchObject([
        {
          state: 'OPEN',
          source: 'ACTION',
          type: 'WORKFLOW',
          tokenId: token.id,
          actionSvcUuid: expect.any(String),
        },
      ]);
      expect(await stateOf(app, uuid)).toBe('STARTED');
      expect((await execute(app, uuid, token.uuid, ui('a'))).status).toBe(409);
    });
  });

  describe('called processes', () => {
    it('append to the data of their caller while it waits', async () => {
      const { uuid, token } = await started(app, published, 'appendingCaller', { found: 'it' });
      await executed(app, uuid, token.uuid, ui('first', 'go'));
      const { content } = await eventually(
        () => instanceRow(app, uuid),
        (row) => row.content.data['child'] !== undefined,
      );

      expect(content.data).toEqual({ found: 'it', child: { found: 'it' } });
    });

    it('are aborted when their caller goes back, and called again later', async () => {
      const { uuid, token } = await started(app, published, 'caller');
      await executed(app, uuid, token.uuid, ui('first', 'go'));
      const first = await oneChild(uuid);
      const back = await executed(app, uuid, token.uuid, ui('first', 'go'));
      expect(back.backAction).toBe(true);
      await eventually(
        () => stateOf(app, first.uuid),
        (state) => state === 'ABORTED',
      );

      await executed(app, uuid, back.tokenUuid, ui('first', 'go'));
      const rows = await eventually(
        () => childRows(app, uuid),
        (found) => found.length === 2,
      );
      expect(rows.map(({ state }) => state)).toEqual(['ABORTED', 'STARTED']);
    });

    it('end when a boundary event interrupts the call', async () => {
      const { uuid, token } = await started(app, published, 'impatient');
      await executed(app, uuid, token.uuid, ui('first', 'go'));
      const child = await oneChild(uuid);

      const state = await eventually(
        () => stateOf(app, child.uuid),
        (now) => now !== 'STARTED',
      );
      expect(['DISMISSED', 'ABORTED', 'TERMINATED']).toContain(state);
      expect(await stateOf(app, uuid)).toBe('STARTED');
    });

    it('expire with their caller', async () => {
      const { uuid, token, instanceMetadata } = await started(app, published, 'expiring');
      await executed(app, uuid, token.uuid, ui('first', 'go'));
      const child = await oneChild(uuid);
      const instanceId = instanceMetadata.processInstanceId;
      await app.dataSource
        .getRepository(RuntimeJobEntity)
        .update({ instanceId, shard: shardOf(instanceId), kind: 'EXPIRY' }, { availableAt: new Date() });

      await eventually(
        () => Promise.all([stateOf(app, uuid), stateOf(app, child.uuid)]),
        (states) => states.every((state) => state === 'EXPIRED'),
      );
    });

    it('are limited in depth', async () => {
      const { uuid } = await started(app, published, 'again');
      const second = await oneChild(uuid);
      const third = await oneChild(second.uuid);
      const incidents = await eventually(
        () => incidentRows(app, third.id),
        (rows) => rows.length > 0,
      );

      expect(incidents).toMatchObject([
        { source: 'SUBPROCESS', message: expect.stringContaining('call each other more than') },
      ]);
      expect(await childRows(app, third.uuid)).toEqual([]);
    });

    it('run independently if an action starts them', async () => {
      const { uuid, token } = await started(app, published, 'detached', { x: 1 });
      const child = await oneChild(uuid);
      await executed(app, uuid, token.uuid, ui('a'));

      expect([await stateOf(app, uuid), await stateOf(app, child.uuid)]).toEqual(['FINISHED', 'STARTED']);
      const [childToken] = await tokenRows(app, child.id);
      await executed(app, child.uuid, childToken?.uuid ?? '', ui('c'));
      expect(await stateOf(app, child.uuid)).toBe('FINISHED');
      const parent = await eventRows(app, (await instanceRow(app, uuid)).id);
      expect(parent.map(({ seq }) => seq)).toEqual(parent.map((_, index) => index + 1));
    });
  });
});
