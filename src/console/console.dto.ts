import { Answer, Shows } from '../platform/openapi/answer-fields.decorators.js';
import type { Principal } from '../platform/user/principal.js';
import { UserReferenceDto } from '../platform/user/user-reference.dto.js';

/** Settings that the console needs before a user signs in. */
export class ConsoleSettingsDto extends Answer({
  issuer: Shows.value(
    'Issuer of the access tokens, where users sign in.',
    'https://sso.example.com/realms/company',
  ),
  clientId: Shows.textOrNull(
    'OAuth client id of the console at this issuer; null when not configured.',
    'svc-console',
  ),
  scope: Shows.value('Scopes that the console requests.', 'openid profile'),
  evaluation: Shows.flag(
    'Whether the service runs in evaluation mode, in which it signs users in itself.',
    false,
  ),
  version: Shows.value('Version of the service.', '1.0.0'),
  documentation: Shows.value('Path of the API documentation.', '/docs'),
}) {}

export class CallerPermissionDto extends Answer({
  permission: Shows.value('Name of the permission.', 'process-read'),
  applications: Shows.textsOrNull(
    'Ids of the applications that it is granted for, where `*` matches any number of characters; null for all.',
    null,
  ),
}) {}

/** Permissions required by settings of the deployment. */
export class AskedPermissionsDto extends Answer({
  discovery: Shows.textOrNull(
    'Required for platform discovery; null when any valid token is sufficient.',
    null,
  ),
  uiAction: Shows.textOrNull(
    'Required to execute a UI action; null when any valid token is sufficient.',
    null,
  ),
  toolCall: Shows.textOrNull('Required to call tools by hand; null when calls are off (TOOL_CALLS).', null),
}) {}

/** Identity and permissions of the caller. */
export class CallerDto extends Answer({
  subject: Shows.value('Subject of the token; together with the issuer it identifies the caller.', 'f3a1c2'),
  user: Shows.part(() => UserReferenceDto, 'Names of the caller, as shown in records.'),
  permissions: Shows.list(
    () => CallerPermissionDto,
    'Permissions that PERMISSION_RULES grant to the token, by name.',
  ),
  asked: Shows.part(() => AskedPermissionsDto, 'Permissions that depend on settings of the deployment.'),
}) {}

export function toCaller({ subject, user, permissions }: Principal, asked: AskedPermissionsDto): CallerDto {
  return {
    subject,
    user,
    permissions: [...permissions]
      .map(([permission, grant]) => ({
        permission,
        applications: grant === 'all' ? null : [...grant.ids, ...grant.patterns],
      }))
      .toSorted((one, other) => (one.permission < other.permission ? -1 : 1)),
    asked,
  };
}
