/** Authentication scheme at the beginning of a credential (RFC 9110, section 11.4), in any header. */
export const SCHEME =
  /^(basic|bearer|digest|token|apikey|api-key|negotiate|ntlm|hoba|mutual|dpop|gnap)\s+(?=\S)/i;
/** User information in a URL. */
export const USER_INFO = /:\/\/([^\s/@?#]+)@/;
const BASIC = /^basic\s/i;
/** A parameter of a credential or a cookie, but not base64 padding. */
const PARAMETER = /^[^=\s]+=(?!=*$)"?(.*?)"?$/;
/** If the password is shorter, the user name is assumed to be the secret, such as an API key. */
const PASSWORD_MIN_LENGTH = 8;

/** Returns a credential and the parts of it that may occur alone: without its scheme, its parameters, user name and password. */
export function credentialParts(value: string): string[] {
  const [, userInfo] = USER_INFO.exec(value) ?? [];
  const credential = value.replace(SCHEME, '');
  const pair = BASIC.test(value) ? Buffer.from(credential, 'base64').toString() : userInfo;
  const parameters = credential.split(/[;,]\s*/).map((part) => PARAMETER.exec(part)?.[1] ?? part);
  return [value, credential, ...parameters, ...(pair === undefined ? [] : pairParts(pair))];
}

/** Splits `user:password`. Includes the user name only if the password is too short to be the secret. */
function pairParts(pair: string): string[] {
  const [user = '', ...rest] = pair.split(':');
  const password = rest.join(':');
  return [pair, password, ...(password.length < PASSWORD_MIN_LENGTH ? [user] : [])];
}
