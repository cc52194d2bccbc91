import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { DatabaseDeadlineError } from '../../../src/store/database.errors.js';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { InstanceStepsService } from '../../../src/runtime/steps/instance-steps.service.js';
import { NotifyParentHandler } from '../../../src/runtime/background/token-job.handlers.js';
import { RunnableDefinitionsService } from '../../../src/runtime/definitions/runnable-definitions.service.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, serviceTask, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, executed, instancePath, started } from '../../support/runtime/runtime-client.js';
import {
  childRows,
  eventRows,
  incidentRows,
  instanceRow,
  tokenRows,
} from '../../support/runtime/runtime-rows.js';

const ERRORS = `<bpmn:error id="e" errorCode="E"/><bpmn:error id="missing" errorCode="CHILD_NOT_STARTED"/>`;

/** Returns a process that calls another one. It catches `error`: null for all, undefined for none. */
const caller = (name: string, called: string, error?: string | null): string => {
  const definition =
    error === null ? '<bpmn:errorEventDefinition/>' : `<bpmn:errorEventDefinition errorRef="${error}"/>`;
  return processFile(
    name,
    `${node('startEvent', 'start')}${node('callActivity', 'call', '', `calledElement="${called}"`)}${userTask('a')}
     ${node('endEvent', 'end')}
     ${error === undefined ? '' : `${node('boundaryEvent', 'caught', definition, 'attachedToRef="call"')}${userTask('fix')}`}
     ${flows(`start>call call>a a>end${error === undefined ? '' : ' caught>fix fix>end'}`)}`,
    { outside: ERRORS },
  );
};
const broken = processFile(
  'broken',
  `${node('startEvent', 'start')}${userTask('decide')}
   ${node('endEvent', 'wrong', '<bpmn:errorEventDefinition errorRef="e"/>')}${flows('start>decide decide>wrong')}`,
  { outside: ERRORS },
);
/** Appends to the data of its caller and ends with an error, in one step. */
const appending = processFile(
  'appending',
  `${node('startEvent', 'start')}${serviceTask('s', [
    { name: 'append', kind: 'appendToParent', inner: '<svc:path from="found" to="child.found"/>' },
  ])}${node('endEvent', 'wrong', '<bpmn:errorEventDefinition errorRef="e"/>')}${flows('start>s s>wrong')}`,
  { outside: ERRORS },
);

interface InstanceBody extends Record<string, unknown> {
  state: string;
  data: Record<string, unknown>;
  tokens: { uuid: string; state: string; bpmnElementId: string }[];
  incidents: { message: string }[];
}

describe('called processes and faults in the background', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.shared({
      'jobLimits.pollMs': '20',
      'jobLimits.maxAttempts': '1',
      'jobLimits.leaseMs': '1000',
    });
    published = await publish(app, {
      bpmn: [
        caller('plain', 'broken'),
        caller('named', 'broken', 'missing'),
        caller('all', 'broken', null),
        caller('appendingCaught', 'appending', 'e'),
        caller('appendingUncaught', 'appending'),
        broken,
        appending,
      ],
    });
  });
  afterAll(() => app.close());
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const read = async (uuid: string): Promise<InstanceBody> =>
    (await app.request<InstanceBody>('GET', instancePath(uuid))).body;
  const activeElements = ({ tokens }: InstanceBody): string[] =>
    tokens.filter(({ state }) => state === 'ACTIVE').map(({ bpmnElementId }) => bpmnElementId);
  const at = (uuid: string, element: string): Promise<InstanceBody> =>
    eventually(
      () => read(uuid),
      (body) => activeElements(body).includes(element),
    );
  const stopped = (uuid: string): Promise<InstanceBody> =>
    eventually(
      () => read(uuid),
      ({ incidents }) => incidents.length > 0,
    );
  const child = async (parentUuid: string): Promise<ProcessInstanceEntity> => {
    const [first] = await eventually(
      () => childRows(app, parentUuid),
      (rows) => rows.length > 0,
    );
    return first as ProcessInstanceEntity;
  };
  const fail = async ({ id, uuid }: ProcessInstanceEntity): Promise<void> => {
    const [token] = await tokenRows(app, id);
    await executed(app, uuid, token?.uuid ?? '', ui('decide'));
  };

  describe('a call that is given up', () => {
    const noCall = (): void => {
      vi.spyOn(app.nest.get(RunnableDefinitionsService), 'called').mockRejectedValue(new Error('no luck'));
    };

    it('is caught as CHILD_NOT_STARTED', async () => {
      noCall();
      const { uuid } = await started(app, published, 'named');
      expect(await at(uuid, 'fix')).toMatchObject({ state: 'STARTED', incidents: [] });
      expect(await childRows(app, uuid)).toEqual([]);
    });

    it.each(['plain', 'all'])(
      'causes an incident that can be retried if no boundary event names it (%s)',
      async (name) => {
        noCall();
        const { uuid } = await started(app, published, name);
        const { incidents, tokens } = await stopped(uuid);
        expect(incidents).toMatchObject([
          {
            source: 'SUBPROCESS',
            bpmnElementId: 'call',
            message: 'CHILD_NOT_STARTED: The background work CALL did not succeed in 1 attempts (Error).',
          },
        ]);
        vi.restoreAllMocks();
        const retried = await app.request('POST', `${instancePath(uuid)}/token/${tokens[0]?.uuid}/retry`);
        expect(retried.status).toBe(200);
        expect((await child(uuid)).state).toBe('STARTED');
        expect((await read(uuid)).incidents).toEqual([]);
      },
    );

    it('causes an incident even if the step of the caller fails', async () => {
      noCall();
      const steps = vi
        .spyOn(app.nest.get(InstanceStepsService), 'transact')
        .mockRejectedValue(new Error('no step'));
      const { uuid } = await started(app, published, 'named');
      const { incidents } = await stopped(uuid);
      expect(steps).toHaveBeenCalled();
      expect(incidents).toMatchObject([{ message: expect.stringContaining('CALL did not succeed') }]);
    });

    it('waits for the database if the step of the caller meets an outage', async () => {
      noCall();
      const steps = vi
        .spyOn(app.nest.get(InstanceStepsService), 'transact')
        .mockRejectedValueOnce(new DatabaseDeadlineError());
      const { uuid } = await started(app, published, 'named');
      expect(await at(uuid, 'fix')).toMatchObject({ state: 'STARTED', incidents: [] });
      expect(steps.mock.calls.length).toBeGreaterThan(1);
    });
  });

  describe('a caller whose worker dies', () => {
    it('before its step gets the error of the called process from the next worker', async () => {
      const run = vi
        .spyOn(app.nest.get(NotifyParentHandler), 'run')
        .mockImplementationOnce(() => new Promise(() => undefined));
      const { uuid } = await started(app, published, 'all');
      const called = await child(uuid);
      await fail(called);
      await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1));
      expect((await instanceRow(app, called.uuid)).state).toBe('FAILED');
      expect(activeElements(await read(uuid))).toEqual(['call']);

      expect(await at(uuid, 'fix')).toMatchObject({ state: 'STARTED', incidents: [] });
      expect(run).toHaveBeenCalledTimes(2);
    });

    it('after its step gets it once', async () => {
      const handler = app.nest.get(NotifyParentHandler);
      const whole = handler.run.bind(handler);
      const run = vi.spyOn(handler, 'run').mockImplementationOnce(async (...given) => {
        await whole(...given);
        return new Promise(() => undefined);
      });
      const { uuid } = await started(app, published, 'plain');
      await fail(await child(uuid));
      await eventually(
        () => read(uuid),
        ({ state }) => state === 'FAILED',
      );
      const { id } = await instanceRow(app, uuid);
      const events = await eventRows(app, id);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      expect(run).toHaveBeenCalledTimes(1);
      expect(await eventRows(app, id)).toEqual(events);
      expect(await incidentRows(app, id)).toEqual([]);
    });
  });

  describe('a called process that appends to the data of its caller and fails', () => {
    it('has appended when the error is caught', async () => {
      const { uuid } = await started(app, published, 'appendingCaught', { found: 'it' });
      await at(uuid, 'fix');
      const { data, incidents, state } = await eventually(
        () => read(uuid),
        (body) => 'child' in body.data,
      );
      expect({ data, incidents, state }).toEqual({
        data: { found: 'it', child: { found: 'it' } },
        incidents: [],
        state: 'STARTED',
      });
    });

    it('fails its caller if nothing catches the error, without an incident', async () => {
      const { uuid } = await started(app, published, 'appendingUncaught', { found: 'it' });
      const { incidents } = await eventually(
        () => read(uuid),
        ({ state }) => state === 'FAILED',
      );
      expect(incidents).toEqual([]);
      const called = await child(uuid);
      expect(called.state).toBe('FAILED');
      expect(await incidentRows(app, called.id)).toEqual([]);
    });
  });
});
