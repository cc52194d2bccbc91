import { toDate, type RawRow } from '../../../database/column-values.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { SystemSummaryRow, SystemType } from '../model/system.types.js';

// A list has hundreds of rows: making entities of them would cost several times as much as reading them.

const SELECT_SUMMARIES = `
  SELECT id, resource_id AS resourceId, resource_definition_id AS resourceDefinitionId, type,
    resource_name AS resourceName, name, description, app_id AS appId, app_version_id AS appVersionId,
    modified_at AS modifiedAt
  FROM systems
  WHERE`;

/** Statement and parameters that read every system of the versions (one at least), sorted by version and name. */
export function selectSummaries(versions: AppVersionKey[]): { sql: string; parameters: string[] } {
  const condition = versions.map(() => '(app_id = ? AND app_version_id = ?)').join(' OR ');
  return {
    sql: `${SELECT_SUMMARIES} ${condition} ORDER BY app_id, app_version_id, name_key`,
    parameters: versions.flatMap(({ appId, appVersionId }) => [appId, appVersionId]),
  };
}

/** Makes typed values of a row. */
export function toSummaryRow(row: RawRow): SystemSummaryRow {
  return {
    id: row['id'] as string,
    resourceId: row['resourceId'] as string,
    resourceDefinitionId: row['resourceDefinitionId'] as string,
    type: row['type'] as SystemType,
    resourceName: row['resourceName'] as string,
    name: row['name'] as string,
    description: row['description'] as string,
    appId: row['appId'] as string,
    appVersionId: row['appVersionId'] as string,
    modifiedAt: toDate(row['modifiedAt']),
  };
}
