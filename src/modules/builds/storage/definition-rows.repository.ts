import type { EntityManager } from 'typeorm';
import { prepared } from '../../../database/prepared-statements.js';
import {
  type RawRow,
  toSafeInteger,
  textBytes,
  textExpression,
  toStoredText,
} from '../../../database/column-values.js';
import { BuildStatus, type DefinitionKey, type DefinitionsQuery } from '../model/builds.types.js';

/** What is read of a definition to run it. */
export interface DefinitionRow {
  id: number;
  appId: string;
  buildId: string;
  buildStatus: BuildStatus;
  name: string;
  svcUuid: string;
  /** JSON of ProcessGraph. */
  graph: string;
}

// Read at the start of a process, so spelled out: one statement tells a build that is not there from a name that is not.
const COLUMNS = `builds.app_id AS appId, builds.build_id AS buildId, builds.status AS buildStatus,
  definitions.id, definitions.name, definitions.svc_uuid AS svcUuid, definitions.graph`;
const BY_NAME = `SELECT ${COLUMNS} FROM builds
  LEFT JOIN build_definitions definitions ON definitions.build_id = builds.build_id AND definitions.name = ?
  WHERE builds.build_id = ? AND builds.app_id = ?`;
const BY_ID = `SELECT ${COLUMNS} FROM build_definitions definitions
  JOIN builds ON builds.build_id = definitions.build_id
  WHERE definitions.id = ?`;
// As BY_NAME, one row without an id tells of a build that has none there.
const IDS_BY_NAME = `SELECT definitions.id FROM builds
  LEFT JOIN build_definitions definitions ON definitions.build_id = builds.build_id AND definitions.name > ?
  WHERE builds.build_id = ? AND builds.app_id = ? ORDER BY definitions.name LIMIT ?`;
const BY_IDS = `SELECT ${COLUMNS} FROM build_definitions definitions
  JOIN builds ON builds.build_id = definitions.build_id WHERE definitions.id IN`;
const IDS_OF_BUILD = 'SELECT id FROM build_definitions WHERE build_id = ? ORDER BY id';

/** Process definitions of builds, to be run. */
export const DefinitionRows = {
  /** @returns undefined when the application has no such build, null when the build has no such definition */
  async byName(
    manager: EntityManager,
    { appId, buildId, processName }: DefinitionKey,
  ): Promise<DefinitionRow | null | undefined> {
    const [row] = await manager.query<RawRow[]>(BY_NAME, [processName, buildId, appId]);
    if (row === undefined) {
      return undefined;
    }
    // The servers take a name with spaces behind it for the same name.
    return row['name'] === processName ? toRow(row) : null;
  },

  async byId(manager: EntityManager, id: number): Promise<DefinitionRow | null> {
    const [row] = await manager.query<RawRow[]>(BY_ID, [id]);
    return row === undefined ? null : toRow(row);
  },

  /** Definitions by their ids, in the order of these. */
  async byIds(manager: EntityManager, ids: readonly number[]): Promise<DefinitionRow[]> {
    const rows = await manager.query<RawRow[]>(`${BY_IDS} (${ids.map(() => '?').join(', ')})`, [...ids]);
    const found = new Map(rows.map((row) => [toSafeInteger(row['id']), row]));
    return ids.flatMap((id) => toRow(found.get(id) ?? { id: null }) ?? []);
  },

  /** JSON of the ProcessGraph of a definition that is there, in UTF-8. */
  async graph(manager: EntityManager, id: number): Promise<Buffer> {
    const graph = textExpression(manager, 'graph');
    const statement = `SELECT ${graph} AS graph FROM build_definitions WHERE id = ?`;
    const [row] = await manager.query<RawRow[]>(prepared(statement), [id]);
    return textBytes(row?.['graph']);
  },

  /**
   * The definitions of a build of an application by name, without those of its libraries.
   * @param after only those behind this name
   * @param limit how many at the most
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

  /** The definitions of a build, without those of its libraries. */
  async idsOf(manager: EntityManager, buildId: string): Promise<number[]> {
    const rows = await manager.query<RawRow[]>(IDS_OF_BUILD, [buildId]);
    return rows.map(({ id }) => toSafeInteger(id));
  },
};

function toRow(row: RawRow): DefinitionRow | null {
  return row['id'] === null
    ? null
    : {
        id: toSafeInteger(row['id']),
        appId: row['appId'] as string,
        buildId: row['buildId'] as string,
        buildStatus: row['buildStatus'] as BuildStatus,
        name: row['name'] as string,
        svcUuid: row['svcUuid'] as string,
        graph: toStoredText(row['graph']),
      };
}
