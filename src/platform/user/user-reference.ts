import { isJsonObject } from '#engine/json';
import type { PersonDto as Person, UserReferenceDto } from './user-reference.dto.js';

/** The user who did something; `impersonatingUser` is the actor of a delegated token. */
export type UserReference = UserReferenceDto;

type Claims = Readonly<Record<string, unknown>>;

/** Maximum length of a name, in characters, as in the columns that store it. */
const NAME_MAX_LENGTH = 255;
const USER_NAME_CLAIMS = ['preferred_username', 'email', 'client_id', 'sub'];

/**
 * Builds the user reference of a token (docs/contract.md, section 1; RFC 8693, section 4.1 for `act`).
 * @param claims claims of a verified token; values that are not strings count as absent
 * @returns names without control characters, each at most 255 characters, `""` when unknown
 */
export function userReferenceFrom(claims: Claims): UserReference {
  const act = Object.hasOwn(claims, 'act') ? claims['act'] : undefined;
  const actor = personFrom(isJsonObject(act) ? act : {});
  return { ...personFrom(claims), impersonatingUser: actor.userName === '' ? null : actor };
}

function personFrom(claims: Claims): Person {
  return {
    firstName: text(claims, 'given_name'),
    lastName: text(claims, 'family_name'),
    userName: USER_NAME_CLAIMS.map((name) => text(claims, name)).find((name) => name !== '') ?? '',
  };
}

function text(claims: Claims, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  if (typeof value !== 'string') {
    return '';
  }
  // utf8mb4 columns reject half of a surrogate pair, so names are cut by characters, not by UTF-16 units.
  return Array.from(value.replace(/[\p{Cc}\p{Cs}]/gu, '').trim())
    .slice(0, NAME_MAX_LENGTH)
    .join('');
}
