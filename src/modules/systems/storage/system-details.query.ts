import { hash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { SERVICE_VERSION } from '../../../common/service-version.js';
import type { UserReference } from '../../../common/user/user-reference.js';
import { prepared } from '../../../database/prepared-statements.js';
import { toBoolean, toDate, toJson, type RawRow } from '../../../database/column-values.js';
import { filledUp } from '../../../database/selection.js';
import {
  SystemType,
  type AuthorizationType,
  type SystemDetails,
  type SystemKey,
  type ToolRow,
} from '../model/system.types.js';

// The most frequent read of all, so it is spelled out: making entities of these rows would cost as much as reading them.

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
        id: system['id'] as string,
        resourceId: system['resourceId'] as string,
        resourceDefinitionId: system['resourceDefinitionId'] as string,
        type: system['type'] as SystemType,
        name: system['name'] as string,
        baseUrl: system['baseUrl'] as string | null,
        authorizationType: system['authorizationType'] as AuthorizationType | null,
        clientId: system['clientId'] as string | null,
        identityProviderUrl: system['identityProviderUrl'] as string | null,
        caCertificates: system['caCertificates'] as string | null,
        clientCertificate: system['clientCertificate'] as string | null,
        hasClientKey: toBoolean(system['hasClientKey']),
        credentialOptions: system['credentialOptions'] as string | null,
        headerNames: system['headerNames'] as string | null,
        timeoutMs: system['timeoutMs'] as number | null,
        description: system['description'] as string,
        createdAt: toDate(system['createdAt']),
        modifiedAt: toDate(system['modifiedAt']),
        createdBy: toJson(system['createdBy']) as UserReference,
        modifiedBy: toJson(system['modifiedBy']) as UserReference,
        tools: tools.map(toToolRow),
      };
}

/**
 * The entity tag of a system as it is shown, from the rows of either reading: another one after each change of anything that is
 * shown, and each decision about a tool. Weak (RFC 9110, section 8.8.1), since it is the same in every content coding. It has the release in it, which may show
 * the same rows otherwise.
 * @returns null when there are no rows
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

function toToolRow(row: RawRow): ToolRow {
  return {
    id: row['id'] as string,
    name: row['name'] as string,
    description: row['description'] as string,
    inputSchema: row['inputSchema'] as string,
    outputSchema: row['outputSchema'] as string | null,
    enabled: toBoolean(row['enabled']),
  };
}
