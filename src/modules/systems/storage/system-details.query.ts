import { hash } from 'node:crypto';
import { SERVICE_VERSION } from '../../../common/service-version.js';
import type { UserReference } from '../../../common/user/user-reference.js';
import { toBoolean, toDate, toJson, type RawRow } from '../../../database/raw-row.js';
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
  createdAt: 'systems.created_at',
  modifiedAt: 'systems.modified_at',
  createdBy: 'systems.created_by',
  modifiedBy: 'systems.modified_by',
} as const;

const SHOWN = Object.keys(SYSTEM_COLUMNS);

/** What tells a state of a tool from all others. Its hash covers all that is shown of it but the flag. */
const TOOL_VERSION_COLUMNS = {
  id: 'tools.id',
  position: 'tools.position',
  enabled: 'tools.enabled',
  definitionHash: 'tools.definition_hash',
} as const;

const TOOL_COLUMNS = {
  ...TOOL_VERSION_COLUMNS,
  name: 'tools.name',
  description: 'tools.description',
  inputSchema: 'tools.input_schema',
  outputSchema: 'tools.output_schema',
} as const;

/** A statement with the parameters of `parametersOf`: a row of the system, and one of each tool that is present, in no order. */
export const SELECT_SYSTEM_WITH_TOOLS = statement(TOOL_COLUMNS);

/** The same, but of the tools only what `tagOf` needs. */
export const SELECT_SYSTEM_VERSION = statement(TOOL_VERSION_COLUMNS);

/** In one statement, so that no change can come in between. The columns of the system stand in one row only. */
function statement(toolColumns: Readonly<Record<string, string>>): string {
  const names = [...new Set([...Object.keys(SYSTEM_COLUMNS), ...Object.keys(toolColumns)])];
  const select = (columns: Readonly<Record<string, string>>): string =>
    names.map((name) => `${columns[name] ?? 'NULL'} AS ${name}`).join(', ');
  const where =
    'systems.resource_id = ? AND systems.app_id = ? AND systems.app_version_id = ? AND systems.type = ?';
  return `SELECT ${select(SYSTEM_COLUMNS)} FROM systems WHERE ${where}
  UNION ALL
  SELECT ${select(toolColumns)} FROM systems JOIN tools ON tools.system_id = systems.id AND tools.present = 1 WHERE ${where}`;
}

/** Parameters of both statements. */
export function parametersOf({ resourceId, appId, appVersionId }: SystemKey): string[] {
  const place = [resourceId, appId, appVersionId, SystemType.Mcp];
  return [...place, ...place];
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
        description: system['description'] as string,
        createdAt: toDate(system['createdAt']),
        modifiedAt: toDate(system['modifiedAt']),
        createdBy: toJson(system['createdBy']) as UserReference,
        modifiedBy: toJson(system['modifiedBy']) as UserReference,
        tools: tools.map(toToolRow),
      };
}

/**
 * The entity tag of a system as it is shown, from the rows of either statement: another one after each change of anything that is
 * shown. Weak (RFC 9110, section 8.8.1), since it is the same in every content coding. It has the release in it, which may show
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
  for (const { id, enabled, definitionHash } of tools) {
    version += spelled(id) + spelled(enabled) + spelled(definitionHash);
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
