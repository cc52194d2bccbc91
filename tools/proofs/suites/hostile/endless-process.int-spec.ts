import { afterEach, describe, expect, it } from 'vitest';
import { TestApp } from '../../../../test/support/app.js';
import { flows, node, processFile } from '../../../../test/support/runtime/process-files.js';
import { publish } from '../../../../test/support/runtime/publish.js';
import { eventually, instancePath, started } from '../../../../test/support/runtime/runtime-client.js';
import { instanceRow } from '../../../../test/support/runtime/runtime-rows.js';

const GRACE_MS = 500;
/** Time that a shutdown may take beyond the grace period of running jobs on a busy machine. */
const OTHER_MS = 30_000;

const endless = processFile(
  'endless',
  `${node('startEvent', 'start')}${node('task', 'a')}${node('exclusiveGateway', 'again')}${node('endEvent', 'end')}
   ${flows('start>a a>again again>end[stop == true] again>a[stop != true]')}`,
);

describe('a process that never ends', () => {
  let app: TestApp | undefined;
  afterEach(() => app?.close());

  it('delays neither requests nor the shutdown of its replica', async () => {
    const running = await TestApp.start({
      'processLimits.nodesPerStep': '100',
      'processLimits.continues': '100000',
      'jobLimits.stopGraceMs': String(GRACE_MS),
    });
    app = running;
    const published = await publish(running, { bpmn: [endless] });
    const { uuid } = await started(running, published, 'endless', { stop: false });
    const { seq } = await instanceRow(running, uuid);
    await eventually(
      () => instanceRow(running, uuid),
      (row) => row.seq > seq + 1_000,
    );
    expect((await running.request('GET', instancePath(uuid))).status).toBe(200);
    app = undefined;
    const asked = performance.now();
    await running.close();
    expect(performance.now() - asked).toBeLessThan(GRACE_MS + OTHER_MS);

    // It would continue in any later test that has workers.
    app = await TestApp.start({ JOBS_CONCURRENCY: '0' });
    expect((await app.request('POST', `${instancePath(uuid)}/terminate`, { body: {} })).status).toBe(200);
  });
});
