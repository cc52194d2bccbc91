import type { EntityManager } from 'typeorm';
import {
  type RawRow,
  toSafeInteger,
  textBytes,
  textExpression,
} from '../../../store/tables/column-values.js';
import { Table } from '../../../store/tables/table.js';
import type { BuildDefinition, DefinitionKey, DefinitionsQuery } from '../model/builds.types.js';
import { BuildDefinitionEntity } from './build.entity.js';

/** The columns of a definition that are needed to run it; `graph` is JSON of ProcessGraph. */
export type DefinitionRow = Pick<
  BuildDefinition,
  'id' | 'appId' | 'buildId' | 'buildStatus' | 'name' | 'svcUuid'
> & { graph: string };

const DEFINITIONS = new Table(BuildDefinitionEntity);
const IDS = DEFINITIONS.select('id');
const DEFINITION = DEFINITIONS.select('id', 'name', 'svcUuid', 'graph');

// Runs at every process start, so one statement distinguishes an unknown build from an unknown name.
const COLUMNS = `builds.app_id AS appId, builds.build_id AS buildId, builds.status AS buildStatus, ${DEFINITION.columns('definitions')}`;
const BY_NAME = `SELECT ${COLUMNS} FROM builds
  LEFT JOIN build_definitions definitions ON definitions.build_id = builds.build_id AND definitions.name = ?
  WHERE builds.build_id = ? AND builds.app_id = ?`;
const BY_ID = `SELECT ${COLUMNS} FROM build_definitions definitions
  JOIN builds ON builds.build_id = definitions.build_id
  WHERE definitions.id = ?`;
// As in BY_NAME, one row without an id means that the build exists but has no such definitions.
const IDS_BY_NAME = `SELECT definitions.id FROM builds
  LEFT JOIN build_definitions definitions ON definitions.build_id = builds.build_id AND definitions.name > ?
  WHERE builds.build_id = ? AND builds.app_id = ? ORDER BY definitions.name LIMIT ?`;
const BY_IDS = `SELECT ${COLUMNS} FROM build_definitions definitions
  JOIN builds ON builds.build_id = definitions.build_id WHERE definitions.id IN`;

/** Rows of process definitions, for running them. */
export const DefinitionRows = {
  /** @returns undefined when the application has no such build, null when the build has no such definition */
  async byName(
    manager: EntityManager,
    { appId, buildId, processName }: DefinitionKey,
  ): Promise<DefinitionRow | null | undefined> {
    const [row] = await rowsOf(manager, BY_NAME, [processName, buildId, appId]);
    // The servers take a name with spaces behind it for the same name.
    return row === undefined || row.name === processName ? row : null;
  },

  async byId(manager: EntityManager, id: number): Promise<DefinitionRow | null> {
    return (await rowsOf(manager, BY_ID, [id]))[0] ?? null;
  },

  /** Returns definitions in the order of the given ids. */
  async byIds(manager: EntityManager, ids: readonly number[]): Promise<DefinitionRow[]> {
    const rows = await rowsOf(manager, `${BY_IDS} (${ids.map(() => '?').join(', ')})`, [...ids]);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => found.get(id) ?? []);
  },

  /** Returns the ProcessGraph of an existing definition as JSON in UTF-8. */
  async graph(manager: EntityManager, id: number): Promise<Buffer> {
    const row = await IDS.with('graph', textExpression(manager, 'graph')).first(manager, { id });
    return textBytes(row?.graph);
  },

  /**
   * Returns the ids of the definitions of a build by name, without those of its libraries.
   * @param after returns only names after this one
   * @param limit maximum number of ids
   * @returns undefined when the application has no such build
   */
  async idsByName(
    manager: EntityManager,
    { appId, buildId, after = '' }: DefinitionsQuery,
    limit: number,
  ): Promise<number[] | undefined> {
    const rows = await manager.query<RawRow[]>(IDS_BY_NAME, [after, buildId, appId, limit]);
    return rows.length === 0 ? undefined : rows.flatMap(({ id }) => (id === null ? [] : [toSafeInteger(id)]));
  },

  /** Returns the ids of the definitions of a build, without those of its libraries. */
  async idsOf(manager: EntityManager, buildId: string): Promise<number[]> {
    return (await IDS.find(manager, { buildId }, { order: { id: 'ASC' } })).map(({ id }) => id);
  },
};

async function rowsOf(manager: EntityManager, sql: string, values: unknown[]): Promise<DefinitionRow[]> {
  return DEFINITION.rows(await manager.query<RawRow[]>(sql, values)) as DefinitionRow[];
}
