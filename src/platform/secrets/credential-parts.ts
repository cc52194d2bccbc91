/** What a credential begins with, whatever its header is called (RFC 9110, section 11.4). */
export const SCHEME =
  /^(basic|bearer|digest|token|apikey|api-key|negotiate|ntlm|hoba|mutual|dpop|gnap)\s+(?=\S)/i;
/** User information of an address. */
export const USER_INFO = /:\/\/([^\s/@?#]+)@/;
const BASIC = /^basic\s/i;
/** A parameter of a credential, or a cookie; not the padding of base64. */
const PARAMETER = /^[^=\s]+=(?!=*$)"?(.*?)"?$/;
/** Passwords below it are not removed by themselves, so the key is where the user name is. */
const PASSWORD_MIN_LENGTH = 8;

/** A credential as it is sent, and the parts of it that can come back alone: without its scheme, parameters, user and password. */
export function credentialParts(value: string): string[] {
  const [, userInfo] = USER_INFO.exec(value) ?? [];
  const credential = value.replace(SCHEME, '');
  const pair = BASIC.test(value) ? Buffer.from(credential, 'base64').toString() : userInfo;
  const parameters = credential.split(/[;,]\s*/).map((part) => PARAMETER.exec(part)?.[1] ?? part);
  return [value, credential, ...parameters, ...(pair === undefined ? [] : pairParts(pair))];
}

/** Of `user:password`. A user name is a word like others, unless nothing else could be the secret. */
function pairParts(pair: string): string[] {
  const [user = '', ...rest] = pair.split(':');
  const password = rest.join(':');
  return [pair, password, ...(password.length < PASSWORD_MIN_LENGTH ? [user] : [])];
}
