import { ApiProperty, ApiExtraModels, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { Shows } from '../../../common/answer-fields.decorators.js';
import { type ToolRow, AuthorizationType, SystemType } from '../model/system.types.js';
import type { SystemDetails } from '../storage/system.entity.js';
import { JsonText } from '../../../common/http/json-replies.js';
import { PersonDto, UserReferenceDto } from '../../../common/user/user-reference.dto.js';
import type { UserReference } from '../../../common/user/user-reference.js';
import { accountOptionsOf, apiKeyOptionsOf, headerNamesOf } from '../model/connection.js';
import { IsOneKindOf } from '../model/authorization-kinds.dto.js';
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

/** A tool (docs/contract.md, section 2.3). */
export class ToolResponseDto {
  @ApiProperty({
    description: 'Tool id; it stays the same while the tool is offered, gone and back.',
    format: 'uuid',
  })
  id: string;

  @Shows.textOrNull('Reserved.', null)
  svcUuid: string | null;

  @Shows.value('Name by which the server knows it.', 'get-sum')
  name: string;

  @Shows.value(
    'What the server says it does; plain text, not to be trusted.',
    'Returns the sum of two numbers',
  )
  description: string;

  @Shows.object('JSON Schema of the input.', {
    type: 'object',
    properties: { a: { type: 'number' } },
    required: ['a'],
  })
  inputSchema: Record<string, unknown>;

  @Shows.object('JSON Schema of the output; empty when the server declares none.', {})
  outputSchema: Record<string, unknown>;

  @Shows.value('Whether agents may call the tool.', true)
  enabled: boolean;
}

/** A tool as `ToolResponseDto`, in JSON. Its schemas stand there as they are stored, which spares reading and writing them. */
export function toToolJson({ id, name, description, inputSchema, outputSchema, enabled }: ToolRow): string {
  return `${JSON.stringify({ id, svcUuid: null, name, description }).slice(0, -1)},"inputSchema":${inputSchema},"outputSchema":${outputSchema ?? '{}'},"enabled":${enabled}}`;
}

/** An MCP system as get-by-id shows it (docs/contract.md, section 2.3). */
@ApiExtraModels(...Object.values(STORED_KINDS))
export class SystemResponseDto {
  @Shows.uuid('Id of the system.')
  id: string;

  @Shows.textOrNull('Reserved.', null)
  svcUuid: string | null;

  @Shows.uuid('Names the system in paths.')
  resourceId: string;

  @Shows.uuid('The same in every version of the application; workflow nodes use it.')
  resourceDefinitionId: string;

  @Shows.enum('SystemType', SystemType, 'Always MCP here.', SystemType.Mcp)
  type: SystemType;

  @Shows.value('Display name.', 'Inventory tools')
  name: string;

  @ApiProperty({
    format: 'uri',
    description: 'Base URL of the MCP server.',
    example: 'https://mcp.example.com/mcp',
  })
  baseUrl: string;

  @IsOneKindOf(STORED_KINDS, { description: 'Credentials without the secret.' })
  authorization: ShownAuthorization<'config'>;

  @ApiPropertyOptional({
    type: () => TlsResponseDto,
    description: 'Certificates (extension); absent without any.',
  })
  tls?: TlsResponseDto;

  @ApiPropertyOptional({
    type: [String],
    description: 'Names of the static headers (extension), whose values are never shown; absent without any.',
    example: ['X-Tenant'],
  })
  headerNames?: string[];

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Deadline of one tool call in milliseconds (extension); absent for 30 seconds.',
    example: 120_000,
  })
  timeoutMs?: number;

  @Shows.value('Purpose; empty when nobody has told it.', 'Stock levels and orders of the warehouse')
  description: string;

  @Shows.list(() => ToolResponseDto, 'Filled by a successful connection test.')
  tools: ToolResponseDto[];

  @Shows.moment('When it was created.', '2026-01-31T10:20:30.123Z')
  createdDate: string;

  @Shows.moment('When the system or one of its tools last changed.', '2026-01-31T10:20:30.123Z')
  modifiedDate: string;

  @Shows.part(() => UserReferenceDto, 'Who created it.')
  createdBy: UserReferenceDto;

  @Shows.part(() => UserReferenceDto, 'Who made the last change.')
  modifiedBy: UserReferenceDto;
}

/** An MCP system as the create operation answers it (docs/contract.md, section 2.1). */
@ApiExtraModels(...Object.values(CREATED_KINDS))
export class CreatedSystemResponseDto extends OmitType(SystemResponseDto, [
  'authorization',
  'createdBy',
  'modifiedBy',
] as const) {
  @IsOneKindOf(CREATED_KINDS, { description: 'Credentials without the secret.' })
  authorization: ShownAuthorization<'configuration'>;

  @Shows.part(() => PersonDto, 'Who created it.')
  createdBy: PersonDto;

  @Shows.part(() => PersonDto, 'The same as createdBy.')
  modifiedBy: PersonDto;
}

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

/** What was made already: those who ask for a system at the same time are given one object. */
const TEXTS = new WeakMap<SystemDetails, JsonText>();

/** A system as `SystemResponseDto`, in JSON. */
export async function toSystemJson(system: SystemDetails): Promise<JsonText> {
  const known = TEXTS.get(system);
  if (known !== undefined) {
    return known;
  }
  await readTls(system);
  const text = made(system);
  TEXTS.set(system, text);
  return text;
}

function made(system: SystemDetails): JsonText {
  const config = configurationOf(system);
  const before: Omit<SystemResponseDto, 'tools' | 'createdBy' | 'modifiedBy'> = {
    ...commonFields(system),
    authorization: { type: authorizationTypeOf(system), ...(config && { config }) },
  };
  const { createdBy, modifiedBy } = system;
  const behind: Pick<SystemResponseDto, 'createdBy' | 'modifiedBy'> = { createdBy, modifiedBy };
  const tools = system.tools.map(toToolJson).join(',');
  return new JsonText(
    `${JSON.stringify(before).slice(0, -1)},"tools":[${tools}],${JSON.stringify(behind).slice(1)}`,
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
    createdDate: system.createdAt.toISOString(),
    modifiedDate: system.modifiedAt.toISOString(),
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

/** Answer of the delete operation. */
export class DeletedSystemResponseDto {
  @Shows.number('The HTTP status again.', 200)
  status: number;

  @Shows.value('What happened.', 'System deleted.')
  message: string;

  @Shows.uuid('Resource id of the system that was deleted.')
  resourceId: string;
}
