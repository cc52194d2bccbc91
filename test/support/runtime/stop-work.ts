import { v7 as uuid } from 'uuid';
import { RuntimeJobEntity } from '../../../src/modules/jobs/storage/runtime-job.entity.js';
import { ProcessIncidentEntity } from '../../../src/modules/process-runtime/storage/process-incident.entity.js';
import { ProcessInstanceEntity } from '../../../src/modules/process-runtime/storage/process-instance.entity.js';
import type { TestApp } from '../app.js';
import { tokenRows } from './runtime-rows.js';

/** Makes of the one job of an instance an incident, as when it has failed for good. */
export async function stopWork(app: TestApp, instanceId: number): Promise<ProcessIncidentEntity> {
  const [job] = await app.dataSource.getRepository(RuntimeJobEntity).findBy({ instanceId });
  const [token] = await tokenRows(app, instanceId);
  if (job === undefined || token === undefined) {
    throw new Error('The instance has no background work.');
  }
  const { kind, tokenId, payload, shard } = job;
  await app.dataSource.getRepository(RuntimeJobEntity).delete({ id: job.id, shard });
  const instances = app.dataSource.getRepository(ProcessInstanceEntity);
  await instances.update({ id: instanceId, shard }, { openIncidents: 1 });
  const { appId, buildId, processName } = await instances.findOneByOrFail({ id: instanceId, shard });
  const incidents = app.dataSource.getRepository(ProcessIncidentEntity);
  const incident = incidents.create({
    id: job.id,
    uuid: uuid(),
    shard: token.shard,
    instanceId,
    appId,
    buildId,
    processName,
    state: 'OPEN',
    source: 'NODE',
    type: 'ENGINE',
    message: 'It failed.',
    tokenId: token.id,
    visit: token.visit,
    node: token.node,
    actionSvcUuid: null,
    job: { kind, instanceId, tokenId, payload },
    workKey: `job ${job.id}`,
    requestId: null,
    raisedAt: new Date(),
    closedAt: null,
  });
  // Not saved: that looks for the row in every shard first.
  await incidents.insert(incident as object);
  return incident;
}
