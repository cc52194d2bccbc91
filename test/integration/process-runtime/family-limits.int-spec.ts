import { In } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import {
  ProcessFamilyEntity,
  ProcessInstanceEntity,
} from '../../../src/runtime/storage/process-instance.entity.js';
import { ProcessIncidentEntity } from '../../../src/runtime/storage/process-incident.entity.js';
import { TestApp, limitMetrics } from '../../support/app.js';
import { flows, node, processFile, taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { eventually, executed, instancePath, start, started } from '../../support/runtime/runtime-client.js';
import { childRows, countInstances, incidentRows, instanceRow } from '../../support/runtime/runtime-rows.js';

const INSTANCES = 12;
const JOBS = 40;

const caller = (name: string, called: string, attributes = ''): string =>
  processFile(
    name,
    `${node('startEvent', 'start')}
     ${node(
       'callActivity',
       'call',
       '<bpmn:multiInstanceLoopCharacteristics svc:collection="items"/>',
       `calledElement="${called}" ${attributes}`,
     )}
     ${userTask('a')}${node('endEvent', 'end')}${flows('start>call call>a a>end')}`,
  );

describe('a process that multiplies', () => {
  let app: TestApp;
  let other: TestApp;
  let published: Published;

  beforeAll(async () => {
    const settings = {
      'jobLimits.pollMs': '20',
      JOBS_CONCURRENCY: '8',
      'processLimits.familyInstances': String(INSTANCES),
      'processLimits.familyJobs': String(JOBS),
    };
    app = await TestApp.start(settings);
    // Both replicas must see the same counts.
    other = await TestApp.start(settings);
    published = await publish(app, {
      bpmn: [
        caller('fork', 'fork', 'svc:waits="false"'),
        caller('wide', 'child'),
        taskProcess('child', userTask('c')),
      ],
    });
  });
  afterAll(async () => {
    await app.close();
    await other.close();
  });

  const rows = () => app.dataSource.getRepository(ProcessInstanceEntity).findBy({ appId: published.appId });
  const jobsOf = (ids: number[]) =>
    app.dataSource.getRepository(RuntimeJobEntity).findBy({ instanceId: In(ids) });
  const family = (rootId: number) => app.dataSource.getRepository(ProcessFamilyEntity).findOneBy({ rootId });
  const terminate = async (uuid: string) =>
    expect((await app.request('POST', `${instancePath(uuid)}/terminate`, { body: {} })).status).toBe(200);

  it('has at most processLimits.familyInstances live instances across replicas, and further calls cause incidents', async () => {
    const { uuid, instanceMetadata } = await started(app, published, 'fork', { items: [1, 2, 3] });
    const incidents = app.dataSource.getRepository(ProcessIncidentEntity);
    const settled = await eventually(
      async () => {
        // Jobs are read first: once a job is gone, its results are stored.
        const familyId = instanceMetadata.processInstanceId;
        const jobs = await app.dataSource.getRepository(RuntimeJobEntity).findBy({ familyId });
        const all = await rows();
        const open = await incidents.findBy({ instanceId: In(all.map(({ id }) => id)), state: 'OPEN' });
        return { all, open, jobs };
      },
      ({ jobs, open }) => jobs.length === 0 && open.length > 0,
    );

    expect(settled.all).toHaveLength(1 + INSTANCES);
    // Each instance requests three calls. Every call that was not made is an incident.
    expect(settled.open).toHaveLength(3 * settled.all.length - INSTANCES);
    for (const { type, source, message, job } of settled.open) {
      expect({ type, source }).toEqual({ type: 'SUBPROCESS', source: 'SUBPROCESS' });
      expect(message).toContain('live instances');
      expect(job?.kind).toBe('CALL');
    }
    expect(await family(instanceMetadata.processInstanceId)).toMatchObject({ instances: INSTANCES });
    const shown = await limitMetrics(other, 'family-instances');
    expect(shown).toMatchObject({ maximum: INSTANCES, all: INSTANCES, largest: INSTANCES });
    const here = await limitMetrics(app, 'family-instances');
    // Each replica counts the refusals of its own calls.
    expect((shown.refusals ?? 0) + (here.refusals ?? 0)).toBeGreaterThanOrEqual(settled.open.length);

    await terminate(uuid);
    await eventually(
      () => family(instanceMetadata.processInstanceId),
      (row) => row?.instances === 0,
    );
    expect((await rows()).every(({ state }) => state === 'TERMINATED')).toBe(true);
  });

  it('continues after a retry once other instances of its family have ended', async () => {
    const items = Array.from({ length: INSTANCES + 1 }, (_, index) => index);
    const { uuid, instanceMetadata } = await started(app, published, 'wide', { items });
    const id = instanceMetadata.processInstanceId;
    const [incident] = await eventually(
      () => incidentRows(app, id),
      (found) => found.length > 0,
    );
    expect(incident?.message).toContain('live instances');
    const children = await eventually(
      () => childRows(app, uuid),
      (found) => found.length === INSTANCES,
    );
    const retry = () => app.request('POST', `${instancePath(uuid)}/token/${tokenUuid}/retry`, { body: {} });
    const detail = await app.request<{ tokens: { uuid: string }[] }>('GET', instancePath(uuid));
    const tokenUuid = detail.body.tokens[0]?.uuid ?? '';
    const end = async (child: string) => {
      const { body } = await app.request<{ tokens: { uuid: string }[] }>('GET', instancePath(child));
      await executed(app, child, body.tokens[0]?.uuid ?? '', ui('c'), {});
    };

    await end(children[0]?.uuid ?? '');
    await eventually(
      () => family(id),
      (row) => row?.instances === INSTANCES - 1,
    );
    expect((await retry()).status).toBe(200);
    const all = await eventually(
      () => childRows(app, uuid),
      (found) => found.length === INSTANCES + 1,
    );
    for (const child of all.filter(({ state }) => state === 'STARTED')) {
      await end(child.uuid);
    }
    await eventually(
      () => instanceRow(app, uuid),
      ({ content }) => content.joins.length === 0 && content.data['items'] !== undefined,
    );
    await eventually(
      () => family(id),
      (row) => row?.instances === 0,
    );
    expect((await incidentRows(app, id)).filter(({ state }) => state === 'OPEN')).toEqual([]);
    await terminate(uuid);
  });

  it('cannot make a step that would open more than processLimits.familyJobs jobs', async () => {
    const before = await countInstances(app, published.appId);
    const items = Array.from({ length: JOBS + 1 }, (_, index) => index);
    const { status, body } = await start(app, published, 'wide', { items });

    expect(status).toBe(409);
    expect(body.incident).toMatchObject({ code: 'ENGINE' });
    expect(body.incident?.message).toContain('open background jobs');
    expect(await limitMetrics(app, 'family-jobs')).toMatchObject({ maximum: JOBS, refusals: 1 });
    const { id } = await instanceRow(app, body.incident?.processInstanceUuid ?? '');
    expect(await jobsOf([id])).toEqual([]);
    expect(await countInstances(app, published.appId)).toBe(before + 1);
  });
});
