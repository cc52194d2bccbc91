/** Longest scope that is stored, in characters. */
export const SCOPE_MAX_LENGTH = 1_024;
/** Most extra fields of a token request. */
export const MAX_TOKEN_PARAMETERS = 10;
/** Longest value of one, in characters. */
export const TOKEN_PARAMETER_MAX_LENGTH = 512;

/** RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
/** Fields that the service sets itself, those of other grants, names that objects have, and what would be a secret: values are shown. */
const RESERVED =
  /^(grant_type|client_.*|scope|resource|code|code_verifier|redirect_uri|username|__proto__|constructor|prototype)$|secret|password|assertion|refresh_token/i;
const VALUE = /^[\x20-\x7e]+$/;

/** Whether a value is a scope: names with one space between them. */
export function isScope(value: unknown): boolean {
  return typeof value === 'string' && value.length <= SCOPE_MAX_LENGTH && SCOPE.test(value);
}

/** The rule that extra fields of a token request break; undefined for a valid map. */
export function tokenParametersRule(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'must be an object of texts';
  }
  const parameters = Object.entries(value);
  if (parameters.length > MAX_TOKEN_PARAMETERS) {
    return `must have at most ${MAX_TOKEN_PARAMETERS} members`;
  }
  if (!parameters.every(([name]) => NAME.test(name) && !RESERVED.test(name))) {
    return 'must not name fields that the service sets, fields of other grants, or secrets; a name has 1 to 64 letters, digits, ".", "_" or "-"';
  }
  return parameters.every(([, text]) => isParameterValue(text))
    ? undefined
    : `must have values of 1 to ${TOKEN_PARAMETER_MAX_LENGTH} printable ASCII characters`;
}

function isParameterValue(text: unknown): boolean {
  return typeof text === 'string' && text.length <= TOKEN_PARAMETER_MAX_LENGTH && VALUE.test(text);
}
