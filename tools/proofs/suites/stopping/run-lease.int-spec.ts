import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { DataMappingExecutor } from '../../../../src/runtime/calls/workflows/executors/built-in.executors.js';
import { TestApp } from '../../../../test/support/app.js';
import { flows, node, processFile, serviceTask } from '../../../../test/support/runtime/process-files.js';
import { publish, type Published, mapping, workflowOf } from '../../../../test/support/runtime/publish.js';
import { eventually, started } from '../../../../test/support/runtime/runtime-client.js';

const LEASE_MS = 4_000;

const rating = processFile(
  'rating',
  `${node('startEvent', 'start')}${serviceTask('s', [{ name: 'rate', kind: 'startWorkflow', workflow: 'slow' }])}
   ${node('endEvent', 'end')}${flows('start>s s>end')}`,
);

describe('the lease of a workflow run', () => {
  let app: TestApp;
  let published: Published;
  beforeAll(async () => {
    const settings = {
      'jobLimits.pollMs': '20',
      'jobLimits.leaseMs': '500',
      'workflowLimits.leaseMs': String(LEASE_MS),
    };
    app = await TestApp.start({ ...settings, 'workflowLimits.cancelCheckMs': '60000' });
    published = await publish(app, {
      bpmn: [rating],
      package: { workflows: [workflowOf('slow', [mapping('a', 1)])] },
    });
  });
  afterAll(() => app.close());
  afterEach(() => vi.restoreAllMocks());

  it('is renewed while the run continues, so that no other worker starts it', async () => {
    const { prototype } = DataMappingExecutor;
    const execute = prototype.execute.bind(new DataMappingExecutor());
    const visits = vi.spyOn(prototype, 'execute').mockImplementation(async (...visit) => {
      await sleep(1.5 * LEASE_MS);
      return execute(...visit);
    });
    const { uuid } = await started(app, published, 'rating');
    const { body } = await eventually(
      () => app.request('GET', `/rtm/api/runtime/process-instance/${uuid}`),
      (instance) => instance.body['state'] === 'FINISHED',
    );
    expect(body['incidents']).toEqual([]);
    expect(visits).toHaveBeenCalledTimes(1);
  });
});
