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
  const { kind, tokenId, payload } = job;
  await app.dataSource.getRepository(RuntimeJobEntity).delete({ id: job.id });
  await app.dataSource.getRepository(ProcessInstanceEntity).update({ id: instanceId }, { openIncidents: 1 });
  return app.dataSource.getRepository(ProcessIncidentEntity).save({
    id: job.id,
    uuid: uuid(),
    shard: token.shard,
    instanceId,
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
}
