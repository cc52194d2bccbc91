import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { ProcessIncidentEntity } from '../../../src/runtime/storage/process-incident.entity.js';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { TestApp } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import { flows, node, processFile, timerEvent, userTask } from '../../support/runtime/process-files.js';
import { publish } from '../../support/runtime/publish.js';
import { eventually } from '../../support/runtime/runtime-client.js';

const EVERY_SECOND = timerEvent('timeCycle', 'R/PT1S');
const SCHEDULES = ['PROCESS_CLEANUP', 'TIMER_START'];
const AWAY_MS = 2_500;

describe('schedules', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await TestApp.start({
      'jobLimits.pollMs': '20',
      'jobLimits.maxAttempts': '1',
      'jobLimits.retryBaseMs': '50',
      'jobLimits.retryMaxMs': '200',
      'processLimits.cleanupSeconds': '1',
    });
  });
  afterAll(() => app.close());

  const instances = (appId: string): Promise<number> =>
    app.dataSource.getRepository(ProcessInstanceEntity).countBy({ appId });
  const waiting = async (): Promise<RuntimeJobEntity[]> =>
    (await app.dataSource.getRepository(RuntimeJobEntity).find()).filter(({ kind }) =>
      SCHEDULES.includes(kind),
    );
  const rename = (from: string, to: string): Promise<unknown> =>
    app.dataSource.query(`ALTER TABLE ${from} RENAME TO ${to}`);

  it('continue after an outage of their tables, which does not count as their failure', async () => {
    const appId = uniqueName('lasting');
    const content = `${node('startEvent', 'start', EVERY_SECOND)}${userTask('a')}${node('endEvent', 'end')}${flows('start>a a>end')}`;
    await publish(app, { appId, bpmn: processFile('often', content), activate: true });
    await eventually(
      () => instances(appId),
      (count) => count >= 1,
    );

    const tables = ['process_repeats', 'process_events'];
    for (const table of tables) {
      await rename(table, `${table}_away`);
    }
    await sleep(AWAY_MS);
    const during = await waiting();
    for (const table of tables) {
      await rename(`${table}_away`, table);
    }
    expect(during.map(({ kind }) => kind).toSorted()).toEqual(SCHEDULES);
    expect(during.every(({ interruptions }) => interruptions > 1)).toBe(true);

    const before = await instances(appId);
    await eventually(
      () => instances(appId),
      (count) => count >= before + 2,
    );
    await eventually(waiting, (jobs) =>
      jobs.some(({ kind, interruptions }) => kind === 'PROCESS_CLEANUP' && interruptions === 0),
    );
    expect((await waiting()).map(({ failures }) => failures)).toEqual([0, 0]);
    expect(await app.dataSource.getRepository(ProcessIncidentEntity).count()).toBe(0);
  });
});
