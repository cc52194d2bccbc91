import type { EntityManager, EntityTarget, ObjectLiteral, QueryDeepPartialEntity } from 'typeorm';

/** Adds rows, except those with a unique value that is taken. The entity manager can only add or overwrite. */
export async function insertUnlessThere<Row extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<Row>,
  rows: QueryDeepPartialEntity<Row> | QueryDeepPartialEntity<Row>[],
): Promise<void> {
  await manager.createQueryBuilder().insert().orIgnore().into(entity).values(rows).execute();
}
