import { hash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { SERVICE_VERSION } from '../../platform/service-version.js';
import type { UserReference } from '../../platform/user/user-reference.js';
import { prepared } from '../../store/connection/prepared-statements.js';
import { toBoolean, toDate, toJson, type RawRow } from '../../store/tables/column-values.js';
import { filledUp } from '../../store/tables/selection.js';
import { SystemType, type SystemKey, type ToolRow } from '../model/system.types.js';
import type { SystemDetails, SystemSummaryRow } from './system.entity.js';
import type { AppVersionKey } from '../../apps/apps.types.js';

// Raw SQL, because this is the most frequent read of all: creating entities would cost as much as reading the rows.

/** All that is shown of a system, by the name of its place in a row. */
const SYSTEM_COLUMNS = {
  id: 'systems.id',
  name: 'systems.name',
  description: 'systems.description',
  resourceId: 'systems.resource_id',
  resourceDefinitionId: 'systems.resource_definition_id',
  type: 'systems.type',
  baseUrl: 'systems.base_url',
  authorizationType: 'systems.authorization_type',
  clientId: 'systems.client_id',
  identityProviderUrl: 'systems.identity_provider_url',
  caCertificates: 'systems.tls_ca',
  clientCertificate: 'systems.tls_certificate',
  hasClientKey: 'systems.tls_key IS NOT NULL',
  credentialOptions: 'systems.credential_options',
  headerNames: 'systems.header_names',
  timeoutMs: 'systems.timeout_ms',
  createdAt: 'systems.created_at',
  modifiedAt: 'systems.modified_at',
  createdBy: 'systems.created_by',
  modifiedBy: 'systems.modified_by',
} as const;

const SHOWN = Object.keys(SYSTEM_COLUMNS);

/**
 * What tells a state of a tool from all others. Its hash covers all that is shown of it but the flag. The moment of the decision is
 * shown nowhere here, but a decision may leave the flag as it is, and nobody is to override it unseen.
 */
const TOOL_VERSION_COLUMNS = {
  id: 'tools.id',
  position: 'tools.position',
  enabled: 'tools.enabled',
  definitionHash: 'tools.definition_hash',
  decidedAt: 'tools.decided_at',
} as const;

const TOOL_COLUMNS = {
  ...TOOL_VERSION_COLUMNS,
  name: 'tools.name',
  description: 'tools.description',
  inputSchema: 'tools.input_schema',
  outputSchema: 'tools.output_schema',
} as const;

/** For `readRows`: whole systems. */
export const SYSTEM_WITH_TOOLS = selects(TOOL_COLUMNS);

/** For `readRows`: of the tools only what `tagOf` needs. */
export const SYSTEM_VERSION = selects(TOOL_VERSION_COLUMNS);

/** The columns of a system stand in one row only, those that tell whose it is too. */
function selects(toolColumns: Readonly<Record<string, string>>): readonly string[] {
  const systemColumns = {
    ...SYSTEM_COLUMNS,
    appId: 'systems.app_id',
    appVersionId: 'systems.app_version_id',
  };
  const names = [...new Set([...Object.keys(systemColumns), ...Object.keys(toolColumns)])];
  const select = (columns: Readonly<Record<string, string>>): string => {
    const all = names.map((name) => `${columns[name] ?? 'NULL'} AS ${name}`);
    return `SELECT systems.resource_id AS place, ${all.join(', ')} FROM systems`;
  };
  return [
    select(systemColumns),
    `${select(toolColumns)} JOIN tools ON tools.system_id = systems.id AND tools.present = 1`,
  ];
}

/**
 * The rows of MCP systems, read in one statement, so that no change can come in between.
 * @returns of each key a row of the system, and one of each tool that is present, in no order; none when there is no such system
 */
export async function readRows(
  manager: EntityManager,
  reading: readonly string[],
  keys: readonly SystemKey[],
): Promise<RawRow[][]> {
  const ids = filledUp(keys.map(({ resourceId }) => resourceId));
  const where = `WHERE systems.resource_id IN (${ids.map(() => '?').join(', ')}) AND systems.type = ?`;
  const found = new Map<unknown, RawRow[]>(ids.map((id) => [id, []]));
  const rows = await manager.query<RawRow[]>(
    prepared(reading.map((select) => `${select} ${where}`).join(' UNION ALL ')),
    reading.flatMap(() => [...ids, SystemType.Mcp]),
  );
  rows.forEach((row) => found.get(row['place'])?.push(row));
  return keys.map((key) => {
    const own = found.get(key.resourceId) ?? [];
    const isThere = own.some((row) => row['appId'] === key.appId && row['appVersionId'] === key.appVersionId);
    return isThere ? own : [];
  });
}

/** Makes typed values of the rows; null when there are none. */
export function toDetails(rows: RawRow[]): SystemDetails | null {
  const { system, tools } = parted(rows);
  return system === undefined
    ? null
    : {
        ...(system as unknown as SystemDetails),
        hasClientKey: toBoolean(system['hasClientKey']),
        createdAt: toDate(system['createdAt']),
        modifiedAt: toDate(system['modifiedAt']),
        createdBy: toJson(system['createdBy']) as UserReference,
        modifiedBy: toJson(system['modifiedBy']) as UserReference,
        tools: tools.map((tool) => ({
          ...(tool as unknown as ToolRow),
          enabled: toBoolean(tool['enabled']),
        })),
      };
}

/**
 * The entity tag of a system, another one after each change and each decision about a tool; null without rows.
 * Weak (RFC 9110, section 8.8.1): the same in every content coding. A release may show the same rows otherwise.
 */
export function tagOf(rows: RawRow[]): string | null {
  const { system, tools } = parted(rows);
  if (system === undefined) {
    return null;
  }
  let version = SERVICE_VERSION;
  for (const name of SHOWN) {
    version += spelled(system[name]);
  }
  for (const { id, enabled, definitionHash, decidedAt } of tools) {
    version += spelled(id) + spelled(enabled) + spelled(definitionHash) + spelled(decidedAt);
  }
  return `W/"${hash('sha256', version, 'base64url')}"`;
}

/** Text with its length in front, so that no two lists of values are spelled alike; null without any. */
function spelled(value: unknown): string {
  const text = value instanceof Date ? String(value.getTime()) : String(value);
  return value === null ? '-' : `${text.length}:${text}`;
}

/** Only tools have a position: their place in the list of the server. */
function parted(rows: RawRow[]): { system: RawRow | undefined; tools: RawRow[] } {
  const tools = rows.filter(({ position }) => position !== null);
  return {
    system: rows.find(({ position }) => position === null),
    tools: tools.toSorted((one, other) => Number(one['position']) - Number(other['position'])),
  };
}

// Raw SQL, because a list has hundreds of rows: creating entities would cost several times as much as reading them.

const SELECT_SUMMARIES = `
  SELECT id, resource_id AS resourceId, resource_definition_id AS resourceDefinitionId, type,
    resource_name AS resourceName, name, description, app_id AS appId, app_version_id AS appVersionId,
    modified_at AS modifiedAt
  FROM systems
  WHERE`;

/** Reads every system of one or more versions, sorted by version and name. */
export async function readSummaries(
  manager: EntityManager,
  versions: AppVersionKey[],
): Promise<SystemSummaryRow[]> {
  const condition = versions.map(() => '(app_id = ? AND app_version_id = ?)').join(' OR ');
  const rows = await manager.query<RawRow[]>(
    `${SELECT_SUMMARIES} ${condition} ORDER BY app_id, app_version_id, name_key`,
    versions.flatMap(({ appId, appVersionId }) => [appId, appVersionId]),
  );
  return rows.map((row) => ({
    ...(row as unknown as SystemSummaryRow),
    modifiedAt: toDate(row['modifiedAt']),
  }));
}
