import { credentialParts, SCHEME, USER_INFO } from '../../common/secrets/credential-parts.js';

/** How the name of a header or query parameter ends that holds a credential, without regard to case, `-`, `_` and `.`. */
const CREDENTIAL_NAME =
  /(authorization|auth|cookie|credentials?|passw(or)?d|pwd|passphrase|secret|token|jwt|signature|sig|sess(ion)?(id)?|secretid)$|(^|^x|api|app|application|access|auth|account|client|consumer|functions|license|master|private|secret|service|shared|subscription)key$/;
/** Names that are those of a credential only where the author wrote the value: in a query `key` mostly names a record. */
const KEY_NAME = /^key$/i;
/** Names that end so and hold none: where a list goes on. */
const CURSOR_NAME = /(page|next|continuation|sync|cursor)token$/;
/** A JSON Web Token (RFC 7515, section 7.1). */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*/;

/**
 * The credentials that the author of a node wrote into it, or had filled in from the data: what its headers and its query hold
 * under a name of credentials, and what looks like one under any name. Each as a whole, and in the parts that can come back alone.
 * (User information in the address itself is never sent: the guarded client refuses it.)
 * @param filled names of query parameters whose values come from the data
 */
export function sentCredentials(
  headers: Record<string, string>,
  query: URLSearchParams,
  filled: ReadonlySet<string> = new Set(),
): string[] {
  const ofQuery = [...query].filter(
    ([name, value]) =>
      isLikeCredential(value) || (isNamedSo(name) && !(KEY_NAME.test(name) && filled.has(name))),
  );
  const ofHeaders = Object.entries(headers).filter(
    ([name, value]) => isNamedSo(name) || isLikeCredential(value),
  );
  const parts = [...ofHeaders, ...ofQuery].flatMap(([, value]) => credentialParts(value.trim()));
  return [...new Set(parts)];
}

function isNamedSo(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[-_.]/g, '');
  return CREDENTIAL_NAME.test(plain) && !CURSOR_NAME.test(plain);
}

function isLikeCredential(value: string): boolean {
  return [SCHEME, TOKEN, USER_INFO].some((pattern) => pattern.test(value.trim()));
}
