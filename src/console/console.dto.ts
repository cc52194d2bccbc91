import { Answer, Shows } from '../platform/openapi/answer-fields.decorators.js';
import type { Principal } from '../platform/user/principal.js';
import { UserReferenceDto } from '../platform/user/user-reference.dto.js';

/** What the console must know before anybody has signed in. */
export class ConsoleSettingsDto extends Answer({
  issuer: Shows.value(
    'Issuer of the access tokens, at which people sign in.',
    'https://sso.example.com/realms/company',
  ),
  clientId: Shows.textOrNull(
    'Client of the console at this issuer; null where no operator has set one.',
    'svc-console',
  ),
  scope: Shows.value('Scopes that the console asks for.', 'openid profile'),
  evaluation: Shows.flag('Whether the service runs in evaluation mode, which signs people in itself.', false),
  version: Shows.value('Version of the service.', '1.0.0'),
  documentation: Shows.value('Path of the page of this document.', '/docs'),
}) {}

export class CallerPermissionDto extends Answer({
  permission: Shows.value('Name of the permission.', 'process-read'),
  applications: Shows.textsOrNull(
    'Applications that it is granted for, by id, in which `*` stands for any number of characters; null for all.',
    null,
  ),
}) {}

/** Permissions that settings of a deployment ask for. */
export class AskedPermissionsDto extends Answer({
  discovery: Shows.textOrNull('For the discovery of the platform; null for any valid token.', null),
  uiAction: Shows.textOrNull('For executing a UI action; null for any valid token.', null),
  toolCall: Shows.textOrNull('For calling tools by hand; null where nobody may (TOOL_CALLS).', null),
}) {}

/** Who the caller is to this service. */
export class CallerDto extends Answer({
  subject: Shows.value('Subject of the token. With the issuer it is the identity of the caller.', 'f3a1c2'),
  user: Shows.part(() => UserReferenceDto, 'Names, as records show them.'),
  permissions: Shows.list(() => CallerPermissionDto, 'What the token grants by PERMISSION_RULES, by name.'),
  asked: Shows.part(() => AskedPermissionsDto, 'Which permission is asked for where a setting says so.'),
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
