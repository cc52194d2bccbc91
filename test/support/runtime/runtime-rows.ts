import type { TestApp } from '../app.js';
import { ProcessEventEntity } from '../../../src/modules/process-runtime/storage/process-event.entity.js';
import { ProcessIncidentEntity } from '../../../src/modules/process-runtime/storage/process-incident.entity.js';
import { ProcessInstanceEntity } from '../../../src/modules/process-runtime/storage/process-instance.entity.js';
import { ProcessTokenEntity } from '../../../src/modules/process-runtime/storage/process-token.entity.js';

/** An instance as stored, its content parsed. */
export async function instanceRow(
  app: TestApp,
  uuid: string,
): Promise<Omit<ProcessInstanceEntity, 'content'> & { content: { data: Record<string, unknown> } }> {
  const row = await app.dataSource.getRepository(ProcessInstanceEntity).findOneByOrFail({ uuid });
  return { ...row, content: JSON.parse(row.content) as { data: Record<string, unknown> } };
}

/** How many instances of a process there are. */
export function countInstances(app: TestApp, appId: string, state?: string): Promise<number> {
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
export function eventRows(app: TestApp, instanceId: number): Promise<ProcessEventEntity[]> {
  return app.dataSource
    .getRepository(ProcessEventEntity)
    .find({ where: { instanceId }, order: { seq: 'ASC' } });
}

/** The incidents of an instance. */
export function incidentRows(app: TestApp, instanceId: number): Promise<ProcessIncidentEntity[]> {
  return app.dataSource
    .getRepository(ProcessIncidentEntity)
    .find({ where: { instanceId }, order: { id: 'ASC' } });
}
