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

/** Columns of a system that are shown, by property. */
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
 * Columns that identify a state of a tool. The hash covers all that is shown except the flag. The time of the decision is included,
 * because a new decision may keep the flag and must not be overridden unseen.
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

/** Statements for `readRows` that read whole systems. */
export const SYSTEM_WITH_TOOLS = selects(TOOL_COLUMNS);

/** Statements for `readRows` that read only those columns of tools that `tagOf` needs. */
export const SYSTEM_VERSION = selects(TOOL_VERSION_COLUMNS);

/** Builds one statement for the row of a system and one for the rows of its tools, with the same columns. */
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
 * Reads the rows of MCP systems in one statement, so that they are consistent.
 * @returns for each key a row of the system and one for each present tool, in no order; empty when the system does not exist
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

/** Converts rows to a system with its tools; null when there are none. */
export function toDetails(rows: RawRow[]): SystemDetails | null {
  const { system, tools } = splitRows(rows);
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
 * Returns the entity tag of a system, which changes with each change and each decision about a tool; null without rows. Weak (RFC 9110,
 * section 8.8.1), because it is the same for all content codings. Includes the release, which may serialize rows differently.
 */
export function tagOf(rows: RawRow[]): string | null {
  const { system, tools } = splitRows(rows);
  if (system === undefined) {
    return null;
  }
  let version = SERVICE_VERSION;
  for (const name of SHOWN) {
    version += encoded(system[name]);
  }
  for (const { id, enabled, definitionHash, decidedAt } of tools) {
    version += encoded(id) + encoded(enabled) + encoded(definitionHash) + encoded(decidedAt);
  }
  return `W/"${hash('sha256', version, 'base64url')}"`;
}

/** Encodes a value with its length, so that different lists of values never have the same text. */
function encoded(value: unknown): string {
  const text = value instanceof Date ? String(value.getTime()) : String(value);
  return value === null ? '-' : `${text.length}:${text}`;
}

/** Splits rows into the system and its tools, which are the rows with a position in the server's list. */
function splitRows(rows: RawRow[]): { system: RawRow | undefined; tools: RawRow[] } {
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
