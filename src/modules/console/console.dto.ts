import { Shows } from '../../common/answer-fields.decorators.js';
import type { Principal } from '../../common/user/principal.js';
import { UserReferenceDto } from '../../common/user/user-reference.dto.js';

/** What the console must know before anybody has signed in. */
export class ConsoleSettingsDto {
  @Shows.value(
    'Issuer of the access tokens, at which people sign in.',
    'https://sso.example.com/realms/company',
  )
  issuer: string;

  @Shows.textOrNull(
    'Client of the console at this issuer; null where no operator has set one.',
    'svc-console',
  )
  clientId: string | null;

  @Shows.value('Scopes that the console asks for.', 'openid profile')
  scope: string;

  @Shows.value('Whether the service runs in evaluation mode, which signs people in itself.', false)
  evaluation: boolean;

  @Shows.value('Version of the service.', '1.0.0')
  version: string;

  @Shows.value('Path of the page of this document.', '/docs')
  documentation: string;
}

/** A permission of the caller. */
export class CallerPermissionDto {
  @Shows.value('Name of the permission.', 'process-read')
  permission: string;

  @Shows.textsOrNull(
    'Applications that it is granted for, by id, in which `*` stands for any number of characters; null for all.',
    null,
  )
  applications: string[] | null;
}

/** Permissions that settings of a deployment ask for. */
export class AskedPermissionsDto {
  @Shows.textOrNull('For the discovery of the platform; null for any valid token.', null)
  discovery: string | null;

  @Shows.textOrNull('For executing a UI action; null for any valid token.', null)
  uiAction: string | null;

  @Shows.textOrNull('For calling tools by hand; null where nobody may (TOOL_CALLS).', null)
  toolCall: string | null;
}

/** Who the caller is to this service. */
export class CallerDto {
  @Shows.value('Subject of the token. With the issuer it is the identity of the caller.', 'f3a1c2')
  subject: string;

  @Shows.part(() => UserReferenceDto, 'Names, as records show them.')
  user: UserReferenceDto;

  @Shows.list(() => CallerPermissionDto, 'What the token grants by PERMISSION_RULES, by name.')
  permissions: CallerPermissionDto[];

  @Shows.part(() => AskedPermissionsDto, 'Which permission is asked for where a setting says so.')
  asked: AskedPermissionsDto;
}

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
