import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import type { NodeContext } from '../../../src/runtime/calls/workflows/model/node-executor.js';
import { DataMappingExecutor } from '../../../src/runtime/calls/workflows/executors/built-in.executors.js';
import { TestApp } from '../../support/app.js';
import { flows, node, processFile, serviceTask, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published, calling, mapping, workflowOf } from '../../support/runtime/publish.js';
import { eventually, executed, instancePath, started } from '../../support/runtime/runtime-client.js';

const rating = processFile(
  'rating',
  `${node('startEvent', 'start')}${userTask('first', {
    actions: [{ name: 'go', manual: true, keys: '*', allowBack: true }],
  })}${serviceTask('s', [{ name: 'rate', kind: 'startWorkflow', workflow: 'top' }])}${node('endEvent', 'end')}
   ${flows('start>first first>s s>end')}`,
);

interface Run {
  id: string;
  workflow: string;
  state: string;
  finishedAt: string | null;
  error: { code: string } | null;
}

describe('workflow runs that end early', () => {
  let app: TestApp;
  let published: Published;
  beforeAll(async () => {
    app = await TestApp.start({
      'jobLimits.pollMs': '20',
      'workflowLimits.cancelCheckMs': '50',
      'processLimits.repeatWindowMs': '0',
    });
    published = await publish(app, {
      bpmn: [rating],
      package: {
        workflows: [workflowOf('top', [calling('call', 'slow')]), workflowOf('slow', [mapping('a', 1)])],
      },
    });
  });
  afterAll(() => app.close());
  afterEach(() => vi.restoreAllMocks());

  /** Replaces mapping nodes with ones that wait until their signal is aborted, and counts these. */
  function mockSlowNodes(): { aborted: number } {
    const seen = { aborted: 0 };
    vi.spyOn(DataMappingExecutor.prototype, 'execute').mockImplementation(
      (_node, { scope: { signal } }: NodeContext) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            seen.aborted += 1;
            reject(signal.reason as Error);
          });
        }),
    );
    return seen;
  }

  const runs = async (processInstanceUuid: string, state?: string): Promise<Run[]> => {
    const query = new URLSearchParams({ processInstanceUuid, ...(state === undefined ? {} : { state }) });
    const { body } = await app.request<{ runs: Run[] }>(
      'GET',
      `/rtm/api/runtime/workflow-run?${query.toString()}`,
    );
    return body.runs;
  };

  const startSlowRun = async (): Promise<{ uuid: string; token: string }> => {
    const { uuid, token } = await started(app, published, 'rating');
    await executed(app, uuid, token.uuid, ui('first', 'go'));
    await eventually(
      () => runs(uuid, 'STARTED'),
      (found) => found.length === 2,
    );
    return { uuid, token: token.uuid };
  };

  it.each(['terminate', 'back'])(
    'end as CANCELLED, including subworkflows, and their signal is aborted: %s',
    async (how) => {
      const seen = mockSlowNodes();
      const { uuid, token } = await startSlowRun();
      await (how === 'back'
        ? executed(app, uuid, token, ui('first', 'go'))
        : app.request('POST', `${instancePath(uuid)}/terminate`, { body: {} }));

      const ended = await runs(uuid, 'CANCELLED');
      expect(ended.map(({ workflow }) => workflow).toSorted()).toEqual(['slow', 'top']);
      expect(ended.every(({ finishedAt }) => finishedAt !== null)).toBe(true);
      await eventually(
        () => Promise.resolve(seen.aborted),
        (aborted) => aborted === 1,
      );
      const { body } = await app.request<Run>('GET', `/rtm/api/runtime/workflow-run/${ended[0]?.id}`);
      expect(body.state).toBe('CANCELLED');
      expect(await runs(uuid, 'STARTED')).toEqual([]);
    },
  );

  it('end as FAILED if their workers died too often, and continue when a user retries', async () => {
    const execute = vi
      .spyOn(DataMappingExecutor.prototype, 'execute')
      .mockImplementation(() => new Promise(() => undefined));
    const { uuid, token } = await startSlowRun();
    const jobs = app.dataSource.getRepository(RuntimeJobEntity);
    await jobs.update({ kind: 'WORKFLOW' }, { attempts: 1_000, lease: null, availableAt: new Date(0) });

    const failed = await eventually(
      () => runs(uuid, 'FAILED'),
      (found) => found.length === 2,
    );
    expect(failed).toMatchObject([
      { error: { code: 'WORKFLOW_INTERRUPTED' } },
      { error: { code: 'WORKFLOW_INTERRUPTED' } },
    ]);
    const incidents = await eventually(
      async () => (await app.request<{ incidents: object[] }>('GET', instancePath(uuid))).body.incidents,
      (found) => found.length > 0,
    );
    expect(incidents).toMatchObject([{ type: 'WORKFLOW' }]);

    execute.mockRestore();
    const { status } = await app.request('POST', `${instancePath(uuid)}/token/${token}/retry`, { body: {} });
    expect(status).toBe(200);
    const finished = await eventually(
      () => runs(uuid, 'FINISHED'),
      (found) => found.length === 2,
    );
    expect(finished.map(({ id }) => id).toSorted()).toEqual(failed.map(({ id }) => id).toSorted());
  });
});
