import type { TestApp } from '../app.js';
import type { InstanceStatus } from '../../../src/modules/process-runtime/engine/state/engine.types.js';
import { RuntimeJobEntity } from '../../../src/modules/jobs/storage/runtime-job.entity.js';
import { eventsOf, type EventRow } from '../../../src/modules/process-runtime/storage/events.repository.js';
import { ProcessEventEntity } from '../../../src/modules/process-runtime/storage/process-event.entity.js';
import { ProcessIncidentEntity } from '../../../src/modules/process-runtime/storage/process-incident.entity.js';
import { ProcessInstanceEntity } from '../../../src/modules/process-runtime/storage/process-instance.entity.js';
import { ProcessTokenEntity } from '../../../src/modules/process-runtime/storage/process-token.entity.js';

/** An instance as stored. */
export function instanceRow(app: TestApp, uuid: string): Promise<ProcessInstanceEntity> {
  return app.dataSource.getRepository(ProcessInstanceEntity).findOneByOrFail({ uuid });
}

/** The state of an instance. */
export async function stateOf(app: TestApp, uuid: string): Promise<string> {
  return (await instanceRow(app, uuid)).state;
}

/** The instances that an instance has started, by id. */
export function childRows(app: TestApp, parentUuid: string): Promise<ProcessInstanceEntity[]> {
  return app.dataSource
    .getRepository(ProcessInstanceEntity)
    .find({ where: { parentUuid }, order: { id: 'ASC' } });
}

/** The background jobs of an instance. */
export function jobRows(app: TestApp, instanceId: number): Promise<RuntimeJobEntity[]> {
  return app.dataSource.getRepository(RuntimeJobEntity).findBy({ instanceId });
}

/** How many instances of a process there are. */
export function countInstances(app: TestApp, appId: string, state?: InstanceStatus): Promise<number> {
  return app.dataSource
    .getRepository(ProcessInstanceEntity)
    .countBy({ appId, ...(state === undefined ? {} : { state }) });
}

/** The tokens of an instance, by id. */
export function tokenRows(app: TestApp, instanceId: number): Promise<ProcessTokenEntity[]> {
  return app.dataSource
    .getRepository(ProcessTokenEntity)
    .find({ where: { instanceId }, order: { id: 'ASC' } });
}

/** The audit trail of an instance. */
export async function eventRows(app: TestApp, instanceId: number): Promise<EventRow[]> {
  const rows = app.dataSource.getRepository(ProcessEventEntity);
  return eventsOf(await rows.find({ where: { instanceId }, order: { seq: 'ASC' } }));
}

/** The incidents of an instance. */
export function incidentRows(app: TestApp, instanceId: number): Promise<ProcessIncidentEntity[]> {
  return app.dataSource
    .getRepository(ProcessIncidentEntity)
    .find({ where: { instanceId }, order: { id: 'ASC' } });
}
