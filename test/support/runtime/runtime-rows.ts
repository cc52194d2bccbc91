import type { TestApp } from '../app.js';
import type { InstanceStatus } from '#engine/tokens';
import { RuntimeJobEntity } from '../../../src/jobs/storage/runtime-job.entity.js';
import { eventsOf, type EventRow } from '../../../src/runtime/storage/events.repository.js';
import { ProcessEventEntity } from '../../../src/runtime/storage/process-event.entity.js';
import { ProcessIncidentEntity } from '../../../src/runtime/storage/process-incident.entity.js';
import { ProcessInstanceEntity } from '../../../src/runtime/storage/process-instance.entity.js';
import { ProcessTokenEntity } from '../../../src/runtime/storage/process-token.entity.js';
import { v7 as uuid } from 'uuid';
import { setTimeout } from 'node:timers/promises';
import { Database } from '../../../src/store/database.js';
import { shardOfUuid } from '../../../src/store/shards.js';

/** Returns the row of an instance. */
export function instanceRow(app: TestApp, uuid: string): Promise<ProcessInstanceEntity> {
  return app.dataSource.getRepository(ProcessInstanceEntity).findOneByOrFail({ uuid });
}

/** Returns the state of an instance. */
export async function stateOf(app: TestApp, uuid: string): Promise<string> {
  return (await instanceRow(app, uuid)).state;
}

/** Returns the instances that an instance has started, ordered by id. */
export function childRows(app: TestApp, parentUuid: string): Promise<ProcessInstanceEntity[]> {
  return app.dataSource
    .getRepository(ProcessInstanceEntity)
    .find({ where: { parentUuid }, order: { id: 'ASC' } });
}

/** Returns the background jobs of an instance. */
export function jobRows(app: TestApp, instanceId: number): Promise<RuntimeJobEntity[]> {
  return app.dataSource.getRepository(RuntimeJobEntity).findBy({ instanceId });
}

/** Counts the instances of an application. */
export function countInstances(app: TestApp, appId: string, state?: InstanceStatus): Promise<number> {
  return app.dataSource
    .getRepository(ProcessInstanceEntity)
    .countBy({ appId, ...(state === undefined ? {} : { state }) });
}

/** Returns the tokens of an instance, ordered by id. */
export function tokenRows(app: TestApp, instanceId: number): Promise<ProcessTokenEntity[]> {
  return app.dataSource
    .getRepository(ProcessTokenEntity)
    .find({ where: { instanceId }, order: { id: 'ASC' } });
}

/** Returns the audit trail of an instance. */
export async function eventRows(app: TestApp, instanceId: number): Promise<EventRow[]> {
  const rows = app.dataSource.getRepository(ProcessEventEntity);
  return eventsOf(await rows.find({ where: { instanceId }, order: { seq: 'ASC' } }));
}

/** Returns the incidents of an instance. */
export function incidentRows(app: TestApp, instanceId: number): Promise<ProcessIncidentEntity[]> {
  return app.dataSource
    .getRepository(ProcessIncidentEntity)
    .find({ where: { instanceId }, order: { id: 'ASC' } });
}

/** Replaces the only job of an instance with an incident, as if the job had failed permanently. */
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
  // `save` would first look for the row in every shard.
  await incidents.insert(incident as object);
  return incident;
}

const LOCKED_MS = 500;

/** Sends requests while a transaction locks an instance, so that all of them arrive before any can proceed. */
export async function whileLocked<T>(app: TestApp, uuid: string, send: () => Promise<T>[]): Promise<T[]> {
  const database = app.nest.get(Database);
  const lock = database.isEmbedded ? '' : ' FOR UPDATE';
  const calls = await database.write(async (manager) => {
    const row = 'SELECT id FROM process_instances WHERE uuid = ? AND shard = ?';
    await manager.query(`${row}${lock}`, [uuid, shardOfUuid(uuid)]);
    const sent = send();
    await setTimeout(LOCKED_MS);
    return { sent };
  });
  return Promise.all(calls.sent);
}
