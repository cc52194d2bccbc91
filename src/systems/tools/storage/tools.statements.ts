import type { EntityManager } from 'typeorm';
import type { SystemEntity } from '../../storage/system.entity.js';
import type { DefinedName } from '../model/tool.types.js';

/** A resource definition and its application, which an index covers. */
export type DefinitionScope = Pick<SystemEntity, 'appId' | 'resourceDefinitionId'>;

const COPIED =
  'title, description, input_schema, output_schema, annotations, definition_hash, enabled, decided_by, decided_at';

/** Returns the definitions of tools with these names in all versions. Raw SQL, because the entity manager has no DISTINCT. */
export function definedNames(
  manager: EntityManager,
  { appId, resourceDefinitionId }: DefinitionScope,
  names: readonly string[],
): Promise<DefinedName[]> {
  return manager.query(
    `SELECT DISTINCT tools.name AS name, tools.definition_hash AS definitionHash
     FROM tools JOIN systems ON systems.id = tools.system_id
     WHERE systems.app_id = ? AND systems.resource_definition_id = ? AND tools.name IN (${marks(names)})`,
    [appId, resourceDefinitionId, ...names],
  );
}

/** Copies tools to `reviewed_tools`. Raw SQL, because the definitions of one list can have many megabytes. */
export async function copyTools(manager: EntityManager, ids: readonly string[]): Promise<void> {
  await manager.query(
    `INSERT INTO reviewed_tools (tool_id, system_id, ${COPIED})
     SELECT id, system_id, ${COPIED} FROM tools WHERE id IN (${marks(ids)})`,
    [...ids],
  );
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
