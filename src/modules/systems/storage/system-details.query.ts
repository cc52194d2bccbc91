import type { UserReference } from '../../../common/user/user-reference.js';
import { toBoolean, toDate, toJson, type RawRow } from '../../../database/raw-row.js';
import type { AuthorizationType, SystemDetails, SystemType, ToolRow } from '../model/system.types.js';

// The most frequent read of all, so it is spelled out: making entities of these rows would cost as much as reading them.

/**
 * One row for each tool that is present, in the order of the server's list, with the system in every one of them; a
 * single row without a tool when there is none. In one statement, so that no change can come in between.
 * Parameters: resource id, application id, version id, type.
 */
export const SELECT_SYSTEM_WITH_TOOLS = `
  SELECT systems.id, systems.resource_id AS resourceId, systems.resource_definition_id AS resourceDefinitionId,
    systems.type, systems.name, systems.base_url AS baseUrl, systems.authorization_type AS authorizationType,
    systems.client_id AS clientId, systems.identity_provider_url AS identityProviderUrl,
    systems.tls_ca AS caCertificates, systems.tls_certificate AS clientCertificate,
    systems.tls_key IS NOT NULL AS hasClientKey, systems.description,
    systems.credential_options AS credentialOptions, systems.description,
    systems.created_at AS createdAt, systems.modified_at AS modifiedAt, systems.created_by AS createdBy,
    systems.modified_by AS modifiedBy, tools.id AS toolId, tools.name AS toolName, tools.description AS toolDescription,
    tools.input_schema AS inputSchema, tools.output_schema AS outputSchema, tools.enabled
  FROM systems
  LEFT JOIN tools ON tools.system_id = systems.id AND tools.present = 1
  WHERE systems.resource_id = ? AND systems.app_id = ? AND systems.app_version_id = ? AND systems.type = ?
  ORDER BY tools.position`;

/** Makes typed values of the rows; null when there are none. */
export function toDetails(rows: RawRow[]): SystemDetails | null {
  const [system] = rows;
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
        tools: rows.filter((row) => row['toolId'] !== null).map(toToolRow),
      };
}

function toToolRow(row: RawRow): ToolRow {
  return {
    id: row['toolId'] as string,
    name: row['toolName'] as string,
    description: row['toolDescription'] as string,
    inputSchema: toJson(row['inputSchema']) as ToolRow['inputSchema'],
    outputSchema:
      row['outputSchema'] === null ? null : (toJson(row['outputSchema']) as ToolRow['inputSchema']),
    enabled: toBoolean(row['enabled']),
  };
}
