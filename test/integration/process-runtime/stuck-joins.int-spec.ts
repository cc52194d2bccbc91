import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, timerEvent, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import {
  eventually,
  execute,
  executed,
  instancePath,
  started,
} from '../../support/runtime/runtime-client.js';
import { eventRows, incidentRows, instanceRow, tokenRows } from '../../support/runtime/runtime-rows.js';

const back = { actions: [{ name: 'done', manual: true, keys: '*', allowBack: true }] };

/** Three branches: `a` waits at a join, `b` reaches it or goes elsewhere, `c` and `d` are independent of it. */
const branches = processFile(
  'branches',
  `${node('startEvent', 'start')}${node('parallelGateway', 'fork')}${userTask('a')}${userTask('b', back)}
   ${node('exclusiveGateway', 'which', '', 'default="which_elsewhere"')}${userTask('elsewhere')}${node('endEvent', 'other')}
   ${node('parallelGateway', 'join')}${userTask('after')}${node('endEvent', 'end')}
   ${userTask('c')}${userTask('d')}${node('endEvent', 'last')}
   ${flows('start>fork fork>a fork>b fork>c a>join b>which which>join[ok] which>elsewhere elsewhere>other join>after after>end')}
   ${flows('c>d d>last')}`,
);
/** Only one of two flows is ever taken. */
const choice = processFile(
  'choice',
  `${node('startEvent', 'start')}${node('exclusiveGateway', 'which', '', 'default="which_y"')}
   ${node('task', 'x')}${node('task', 'y')}${node('parallelGateway', 'join')}${node('endEvent', 'end')}
   ${flows('start>which which>x[ok] which>y x>join y>join join>end')}`,
);
/** The other branch goes elsewhere in the background. */
const later = processFile(
  'later',
  `${node('startEvent', 'start')}${node('parallelGateway', 'fork')}
   ${node('intermediateCatchEvent', 'soon', timerEvent('timeDuration', 'PT0.1S'))}
   ${node('exclusiveGateway', 'which', '', 'default="which_other"')}${node('endEvent', 'other')}
   ${node('parallelGateway', 'join')}${node('endEvent', 'end')}
   ${flows('start>fork fork>join fork>soon soon>which which>join[ok] which>other join>end')}`,
);

interface InstanceBody extends Record<string, unknown> {
  state: string;
  tokens: { uuid: string; state: string; bpmnElementId: string }[];
  incidents: Record<string, unknown>[];
}

describe('a join that can never be completed', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.start({
      'jobLimits.pollMs': '20',
      'processLimits.repeatWindowMs': '0',
    });
    published = await publish(app, { bpmn: [branches, choice, later] });
  });
  afterAll(() => app.close());

  const read = async (uuid: string): Promise<InstanceBody> =>
    (await app.request<InstanceBody>('GET', instancePath(uuid))).body;
  const tokenAt = async (uuid: string, element: string): Promise<string> => {
    const { tokens } = await read(uuid);
    return tokens.find((token) => token.state === 'ACTIVE' && token.bpmnElementId === element)?.uuid ?? '';
  };
  const act = async (uuid: string, task: string, body: object = {}, at = task): Promise<unknown> =>
    executed(app, uuid, await tokenAt(uuid, at), ui(task), body);
  const incidentEvents = async (id: number): Promise<string[]> =>
    (await eventRows(app, id)).map(({ kind }) => kind).filter((kind) => kind.startsWith('INCIDENT_'));
  /** Starts an instance whose `b` goes elsewhere while `a` waits at the join. */
  const stuck = async (): Promise<{ uuid: string; id: number }> => {
    const { uuid } = await started(app, published, 'branches', { ok: false });
    await act(uuid, 'a');
    expect((await read(uuid)).incidents).toEqual([]);
    await act(uuid, 'b');
    return { uuid, id: (await instanceRow(app, uuid)).id };
  };

  it('causes one incident that names the join and the flow, regardless of later steps elsewhere', async () => {
    const { uuid, id } = await stuck();
    const { state, incidents } = await read(uuid);
    expect(state).toBe('STARTED');
    expect(incidents).toMatchObject([
      {
        source: 'NODE',
        type: 'JOIN_NEVER_COMPLETED',
        bpmnElementId: 'join',
        message: 'The join "join" can never be completed: no token can arrive over "which_join" any more.',
      },
    ]);
    await act(uuid, 'c');
    await act(uuid, 'd');
    await act(uuid, 'elsewhere');

    expect(await incidentEvents(id)).toEqual(['INCIDENT_RAISED']);
    expect((await instanceRow(app, uuid)).openIncidents).toBe(1);
    expect((await read(uuid)).incidents).toEqual(incidents);
    const seqs = (await eventRows(app, id)).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  });

  it('is detected once when the branches end concurrently', async () => {
    const { uuid } = await started(app, published, 'branches', { ok: false });
    const calls = await Promise.all(
      ['a', 'b', 'c'].map(async (task) => ({ task, token: await tokenAt(uuid, task) })),
    );
    const answers = await Promise.all(
      calls.map(({ task, token }) => execute(app, uuid, token, ui(task), {})),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { id } = await instanceRow(app, uuid);
    expect(await incidentEvents(id)).toEqual(['INCIDENT_RAISED']);
    expect(await incidentRows(app, id)).toHaveLength(1);
  });

  it('is resolved when a user goes back, and the process continues', async () => {
    const { uuid, id } = await stuck();
    await act(uuid, 'b', {}, 'elsewhere');
    expect(await incidentEvents(id)).toEqual(['INCIDENT_RAISED', 'INCIDENT_CLOSED']);
    expect(await read(uuid)).toMatchObject({ state: 'STARTED', incidents: [] });

    await act(uuid, 'b', { ok: true });
    await act(uuid, 'after');
    await act(uuid, 'c');
    await act(uuid, 'd');
    expect(await instanceRow(app, uuid)).toMatchObject({ state: 'FINISHED', openIncidents: 0 });
    expect((await incidentRows(app, id)).map(({ state }) => state)).toEqual(['RESOLVED']);
  });

  it('is reported again when it recurs', async () => {
    const { uuid, id } = await stuck();
    await act(uuid, 'b', {}, 'elsewhere');
    await act(uuid, 'b', { ok: false });
    expect((await incidentRows(app, id)).map(({ state }) => state)).toEqual(['RESOLVED', 'OPEN']);
  });

  it('cannot be retried: the answer says what to do, and terminating ends it', async () => {
    const { uuid, id } = await stuck();
    expect(await app.request('POST', `${instancePath(uuid)}/retry`)).toMatchObject({
      status: 409,
      body: {
        message:
          'There is nothing to retry: no token can reach the join any more. Terminate the process instance, or go back with a UI action if there is one.',
      },
    });
    await app.request('POST', `${instancePath(uuid)}/hold`);
    await app.request('POST', `${instancePath(uuid)}/release`);
    expect((await read(uuid)).incidents).toHaveLength(1);
    expect((await app.request('POST', `${instancePath(uuid)}/terminate`)).status).toBe(200);
    expect(await instanceRow(app, uuid)).toMatchObject({ state: 'TERMINATED', openIncidents: 0 });
    expect(await incidentEvents(id)).toEqual(['INCIDENT_RAISED', 'INCIDENT_CLOSED']);
    expect((await tokenRows(app, id)).filter(({ live }) => live)).toEqual([]);
  });

  it('is not detected while its token can still arrive, and a retry changes nothing', async () => {
    const waiting = await started(app, published, 'branches', { ok: false });
    await act(waiting.uuid, 'a');
    const before = await instanceRow(app, waiting.uuid);
    expect(await app.request('POST', `${instancePath(waiting.uuid)}/retry`)).toMatchObject({
      status: 409,
      body: { message: 'The process instance as a whole has no failed work to retry.' },
    });
    expect(await instanceRow(app, waiting.uuid)).toEqual(before);
  });

  it('is detected in the first step, and the start still succeeds', async () => {
    const { uuid, state } = await started(app, published, 'choice', { ok: false });
    expect(state).toBe('STARTED');
    expect((await read(uuid)).incidents).toMatchObject([
      { type: 'JOIN_NEVER_COMPLETED', message: expect.stringContaining('"x_join"') },
    ]);
    expect(await incidentEvents((await instanceRow(app, uuid)).id)).toEqual(['INCIDENT_RAISED']);
  });

  it('is detected in a background step', async () => {
    const { uuid } = await started(app, published, 'later', { ok: false });
    const { incidents } = await eventually(
      () => read(uuid),
      (body) => body.incidents.length > 0,
    );
    expect(incidents).toMatchObject([{ type: 'JOIN_NEVER_COMPLETED', bpmnElementId: 'join' }]);
  });
});
