import { ApiExtraModels, ApiProperty, OmitType } from '@nestjs/swagger';
import { Answer, AnswerWith, Shows, shown, shows } from '../../platform/openapi/answer-fields.decorators.js';
import { type ToolRow, AuthorizationType, SystemType } from '../model/system.types.js';
import type { SystemDetails } from '../storage/system.entity.js';
import { JsonText } from '../../platform/http/json-replies.js';
import { PersonDto, UserReferenceDto } from '../../platform/user/user-reference.dto.js';
import type { UserReference } from '../../platform/user/user-reference.js';
import { accountOptionsOf, apiKeyOptionsOf, headerNamesOf } from '../model/connection.js';
import { IsOneKindOf } from '../model/authorization.request.dto.js';
import {
  type ApiKeyResponseDto,
  CREATED_KINDS,
  type ServiceAccountResponseDto,
  STORED_KINDS,
  type ShownAuthorization,
  readTls,
  TlsResponseDto,
  toTlsResponse,
} from './connection.response.dto.js';

const WITHOUT_SECRET = 'Credentials without the secret.';

/** A tool (docs/contract.md, section 2.3). */
export class ToolResponseDto extends Answer({
  id: shown<string>(
    ApiProperty({
      description: 'Tool id; stays the same even if the server removes the tool and adds it again.',
      format: 'uuid',
    }),
  ),
  svcUuid: Shows.textOrNull('Reserved.', null),
  name: Shows.value('Name of the tool on its server.', 'get-sum'),
  description: Shows.value(
    'Description by the server; untrusted plain text.',
    'Returns the sum of two numbers',
  ),
  inputSchema: Shows.object('JSON Schema of the input.', {
    type: 'object',
    properties: { a: { type: 'number' } },
    required: ['a'],
  }),
  outputSchema: Shows.object('JSON Schema of the output; empty when the server declares none.', {}),
  enabled: Shows.flag('Whether agents may call the tool.', true),
}) {}

/** Serializes a tool as `ToolResponseDto`. Inserts the stored JSON text of the schemas, to avoid parsing it. */
export function toToolJson({ id, name, description, inputSchema, outputSchema, enabled }: ToolRow): string {
  return `${JSON.stringify({ id, svcUuid: null, name, description }).slice(0, -1)},"inputSchema":${inputSchema},"outputSchema":${outputSchema ?? '{}'},"enabled":${enabled}}`;
}

/** An MCP system in responses (docs/contract.md, section 2.3). */
@ApiExtraModels(...Object.values(STORED_KINDS))
export class SystemResponseDto extends Answer({
  id: Shows.uuid('Id of the system.'),
  svcUuid: Shows.textOrNull('Reserved.', null),
  resourceId: Shows.uuid('Id of the system in paths.'),
  resourceDefinitionId: Shows.uuid(
    'Id of the system in workflow nodes; the same in all versions of the application.',
  ),
  type: Shows.enum('SystemType', SystemType, 'Always MCP.', SystemType.Mcp),
  name: Shows.value('Display name.', 'Inventory tools'),
  baseUrl: shows({ format: 'uri' })('Base URL of the MCP server.', 'https://mcp.example.com/mcp'),
  authorization: shown<ShownAuthorization<'config'>>(
    IsOneKindOf(STORED_KINDS, { description: WITHOUT_SECRET }),
  ),
  tls: Shows.optionalPart(() => TlsResponseDto, 'Certificates (extension).'),
  headerNames: Shows.optionalTexts(
    'Names of the static headers (extension), whose values are never returned.',
    ['X-Tenant'],
  ),
  timeoutMs: Shows.optionalNumber(
    'Deadline of one tool call in milliseconds (extension); 30 seconds if absent.',
    120_000,
  ),
  description: Shows.value('Purpose; may be empty.', 'Stock levels and orders of the warehouse'),
  tools: Shows.list(() => ToolResponseDto, 'Filled by a successful connection test.'),
  createdDate: Shows.moment('When it was created.', '2026-01-31T10:20:30.123Z'),
  modifiedDate: Shows.moment('When the system or one of its tools last changed.', '2026-01-31T10:20:30.123Z'),
  createdBy: Shows.part(() => UserReferenceDto, 'Who created it.'),
  modifiedBy: Shows.part(() => UserReferenceDto, 'Who made the last change.'),
}) {}

/** An MCP system in the response of the create operation (docs/contract.md, section 2.1). */
@ApiExtraModels(...Object.values(CREATED_KINDS))
export class CreatedSystemResponseDto extends AnswerWith(
  OmitType(SystemResponseDto, ['authorization', 'createdBy', 'modifiedBy'] as const),
  {
    authorization: shown<ShownAuthorization<'configuration'>>(
      IsOneKindOf(CREATED_KINDS, { description: WITHOUT_SECRET }),
    ),
    createdBy: Shows.part(() => PersonDto, 'Who created it.'),
    modifiedBy: Shows.part(() => PersonDto, 'The same as createdBy.'),
  },
) {}

type NewSystem = Omit<SystemDetails, 'tools'>;

export function toCreatedSystemResponse(system: NewSystem): CreatedSystemResponseDto {
  const configuration = configurationOf(system);
  return {
    ...commonFields(system),
    authorization: { type: authorizationTypeOf(system), ...(configuration && { configuration }) },
    tools: [],
    createdBy: personOf(system.createdBy),
    modifiedBy: personOf(system.modifiedBy),
  };
}

/** JSON texts by system. Concurrent readers share a system object, so that it is serialized once. */
const TEXTS = new WeakMap<SystemDetails, JsonText>();

/** Serializes a system as `SystemResponseDto`. */
export async function toSystemJson(system: SystemDetails): Promise<JsonText> {
  const known = TEXTS.get(system);
  if (known !== undefined) {
    return known;
  }
  await readTls(system);
  const text = serialize(system);
  TEXTS.set(system, text);
  return text;
}

function serialize(system: SystemDetails): JsonText {
  const config = configurationOf(system);
  const before: Omit<SystemResponseDto, 'tools' | 'createdBy' | 'modifiedBy'> = {
    ...commonFields(system),
    authorization: { type: authorizationTypeOf(system), ...(config && { config }) },
  };
  const { createdBy, modifiedBy } = system;
  const after: Pick<SystemResponseDto, 'createdBy' | 'modifiedBy'> = { createdBy, modifiedBy };
  const tools = system.tools.map(toToolJson).join(',');
  return new JsonText(
    `${JSON.stringify(before).slice(0, -1)},"tools":[${tools}],${JSON.stringify(after).slice(1)}`,
  );
}

function commonFields(
  system: NewSystem,
): Omit<SystemResponseDto, 'authorization' | 'tools' | 'createdBy' | 'modifiedBy'> {
  const tls = toTlsResponse(system);
  const headerNames = headerNamesOf(system);
  return {
    id: system.id,
    svcUuid: null,
    resourceId: system.resourceId,
    resourceDefinitionId: system.resourceDefinitionId,
    type: system.type,
    name: system.name,
    baseUrl: system.baseUrl ?? '',
    ...(tls && { tls }),
    ...(headerNames.length > 0 && { headerNames }),
    ...(system.timeoutMs !== null && { timeoutMs: system.timeoutMs }),
    description: system.description,
    createdDate: system.createdAt,
    modifiedDate: system.modifiedAt,
  };
}

function authorizationTypeOf(system: NewSystem): AuthorizationType {
  return system.authorizationType ?? AuthorizationType.NoAuth;
}

function configurationOf(system: NewSystem): ServiceAccountResponseDto | ApiKeyResponseDto | undefined {
  const apiKey = apiKeyOptionsOf(system);
  if (apiKey !== null) {
    return { headerName: apiKey.headerName, scheme: apiKey.scheme };
  }
  const { clientId, identityProviderUrl } = system;
  if (clientId === null || identityProviderUrl === null) {
    return undefined;
  }
  const { key, scope, tokenParameters } = accountOptionsOf(system);
  return {
    clientId,
    identityProviderUrl,
    ...(key && { authenticationMethod: 'private_key_jwt', algorithm: key.algorithm, keyId: key.keyId }),
    ...(scope !== null && { scope }),
    ...(tokenParameters && { tokenParameters }),
  };
}

function personOf({ firstName, lastName, userName }: UserReference): PersonDto {
  return { firstName, lastName, userName };
}

export class DeletedSystemResponseDto extends Answer({
  status: Shows.number('HTTP status of the response.', 200),
  message: Shows.value('Outcome.', 'System deleted.'),
  resourceId: Shows.uuid('Resource id of the deleted system.'),
}) {}
