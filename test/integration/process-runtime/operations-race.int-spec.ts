import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { flows, node, processFile, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, execute, instancePath, started } from '../../support/runtime/runtime-client.js';
import { eventRows, incidentRows, instanceRow } from '../../support/runtime/runtime-rows.js';

const ROUNDS = 6;
const ITEMS = [1, 2, 3, 4];
/** Stops with an incident unless `amount` is a number. */
const picky = processFile(
  'picky',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'g')}${node('endEvent', 'x')}${node('endEvent', 'y')}
   ${flows('start>g g>x[amount > 1] g>y[amount <= 1]')}`,
);
/** Calls four processes in parallel with a task that corrects the data, and continues when all have ended. */
const calling = processFile(
  'calling',
  `${node('startEvent', 'start')}${node('parallelGateway', 'split')}
   ${node('callActivity', 'call', '<bpmn:multiInstanceLoopCharacteristics svc:collection="orders"/>', 'calledElement="picky" svc:outputKey="answers"')}
   ${userTask('fix', {
     actions: [
       { name: 'set', manual: true, repeatable: true, optional: true, keys: '*' },
       { name: 'end', manual: true },
     ],
   })}
   ${userTask('after')}${node('endEvent', 'end')}${node('endEvent', 'other')}
   ${flows('start>split split>call split>fix fix>other call>after after>end')}`,
);

let apps: TestApp[];
let published: Published;

const app = (index: number): TestApp => apps[index % apps.length] as TestApp;
const post = (uuid: string, operation: string, index: number): Promise<TestResponse> =>
  app(index).request('POST', `${instancePath(uuid)}/${operation}`);

interface Shown {
  tokens: { uuid: string; bpmnElementId: string; state: string }[];
}

/** Starts an instance whose calls all fail, then corrects its data so that retries succeed. */
async function stopped(): Promise<{ uuid: string; id: number; calling: string; fixing: string }> {
  const { uuid, instanceMetadata } = await started(app(0), published, 'calling', {
    amount: 'many',
    orders: ITEMS,
  });
  const id = instanceMetadata.processInstanceId;
  await eventually(
    () => incidentRows(app(0), id),
    (rows) => rows.length === ITEMS.length,
  );
  const { body } = await app(0).request<Shown>('GET', instancePath(uuid));
  const at = (key: string) =>
    body.tokens.find(({ bpmnElementId, state }) => bpmnElementId === key && state === 'ACTIVE')?.uuid ?? '';
  const ids = { uuid, id, calling: at('call'), fixing: at('fix') };
  expect((await execute(app(0), uuid, ids.fixing, ui('fix', 'set'), { amount: 7 })).status).toBe(200);
  return ids;
}

/** Waits until no job is left, and asserts that the history has no gaps. */
async function settled(id: number): Promise<void> {
  await eventually(
    () => app(0).dataSource.getRepository(RuntimeJobEntity).findBy({ instanceId: id }),
    (jobs) => jobs.length === 0,
  );
  const events = await eventRows(app(0), id);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
}

const childrenOf = (parentId: number) =>
  app(0).dataSource.getRepository(ProcessInstanceEntity).findBy({ parentId });

describe('operators and workers of two replicas, concurrently', () => {
  beforeAll(async () => {
    apps = [
      await TestApp.start({ 'jobLimits.pollMs': '20', 'jobLimits.retryBaseMs': '20' }),
      await TestApp.start({ 'jobLimits.pollMs': '20', 'jobLimits.retryBaseMs': '20' }),
    ];
    published = await publish(app(0), { bpmn: [picky, calling] });
  });
  afterAll(() => Promise.all(apps.map((one) => one.close())));

  it('make each retried call once, even with concurrent retries', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { uuid, id, calling: token } = await stopped();
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) => post(uuid, `token/${token}/retry`, index)),
      );
      expect(
        answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409),
      ).toEqual([]);
      expect(answers.flatMap(({ body }) => body['retriedIncidents'] ?? [])).toHaveLength(ITEMS.length);
      await eventually(
        () => instanceRow(app(0), uuid),
        ({ content }) => content.data['answers'] !== undefined,
      );
      await settled(id);
      const children = await childrenOf(id);
      expect(children.map(({ state }) => state)).toEqual(ITEMS.map(() => 'FINISHED'));
      expect(await instanceRow(app(0), uuid)).toMatchObject({ state: 'STARTED', openIncidents: 0 });
      const entered = (await eventRows(app(0), id)).filter(({ kind }) => kind === 'CHILD_ENDED');
      expect(entered).toHaveLength(ITEMS.length);
    }
  });

  it('end an instance and its children once, despite concurrent work and retries', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { uuid, id, calling: token } = await stopped();
      const answers = await Promise.all([
        post(uuid, `token/${token}/retry`, 0),
        ...[1, 2].map(async (index) => {
          await new Promise((resolve) => setTimeout(resolve, 15 * round));
          return post(uuid, 'terminate', index);
        }),
        post(uuid, `token/${token}/retry`, 1),
      ]);
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
      expect(
        answers.filter(
          ({ body }) => body['state'] === 'TERMINATED' && body['retriedIncidents'] === undefined,
        ),
      ).toHaveLength(1);
      await settled(id);
      expect(await instanceRow(app(0), uuid)).toMatchObject({ state: 'TERMINATED', openIncidents: 0 });
      const children = await eventually(
        () => childrenOf(id),
        (rows) => rows.every(({ endedAt }) => endedAt !== null),
      );
      expect(new Set(children.map(({ parentIndex }) => parentIndex)).size).toBe(children.length);
      const ends = (await eventRows(app(0), id)).filter(
        ({ kind, data }) => kind === 'INSTANCE_STATE' && JSON.stringify(data).includes('TERMINATED'),
      );
      expect(ends).toHaveLength(1);
    }
  });
});
