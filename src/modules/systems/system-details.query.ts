import type { UserReference } from '../../common/user/user-reference.js';
import { toBoolean, toDate, toJson, type RawRow } from '../../database/raw-row.js';
import type { AuthorizationType, SystemDetails, SystemType, ToolRow } from './system.types.js';

// The most frequent read of all, so it is spelled out: making entities of these rows would cost as much as reading them.

/** Parameters: resource id, application id, version id, type. */
export const SELECT_SYSTEM = `
  SELECT id, resource_id AS resourceId, resource_definition_id AS resourceDefinitionId, type, name,
    base_url AS baseUrl, authorization_type AS authorizationType, client_id AS clientId,
    identity_provider_url AS identityProviderUrl, description, created_at AS createdAt, modified_at AS modifiedAt,
    created_by AS createdBy, modified_by AS modifiedBy
  FROM systems
  WHERE resource_id = ? AND app_id = ? AND app_version_id = ? AND type = ?`;

/** Parameter: id of the system. */
export const SELECT_TOOLS = `
  SELECT id, name, description, input_schema AS inputSchema, output_schema AS outputSchema, enabled
  FROM tools
  WHERE system_id = ? AND present = 1
  ORDER BY position`;

/** Makes typed values of the two results. */
export function toDetails(system: RawRow, tools: RawRow[]): SystemDetails {
  return {
    id: system['id'] as string,
    resourceId: system['resourceId'] as string,
    resourceDefinitionId: system['resourceDefinitionId'] as string,
    type: system['type'] as SystemType,
    name: system['name'] as string,
    baseUrl: system['baseUrl'] as string,
    authorizationType: system['authorizationType'] as AuthorizationType,
    clientId: system['clientId'] as string | null,
    identityProviderUrl: system['identityProviderUrl'] as string | null,
    description: system['description'] as string,
    createdAt: toDate(system['createdAt']),
    modifiedAt: toDate(system['modifiedAt']),
    createdBy: toJson(system['createdBy']) as UserReference,
    modifiedBy: toJson(system['modifiedBy']) as UserReference,
    tools: tools.map(toToolRow),
  };
}

function toToolRow(tool: RawRow): ToolRow {
  return {
    id: tool['id'] as string,
    name: tool['name'] as string,
    description: tool['description'] as string,
    inputSchema: toJson(tool['inputSchema']) as ToolRow['inputSchema'],
    outputSchema:
      tool['outputSchema'] === null ? null : (toJson(tool['outputSchema']) as ToolRow['inputSchema']),
    enabled: toBoolean(tool['enabled']),
  };
}
