import { isJsonObject } from '#engine/json';

/** Field name (RFC 9110, section 5.1). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/**
 * Headers that the service, the protocol or the connection sets, or by which proxies identify callers; also names of
 * inherited object members.
 */
const FORBIDDEN =
  /^(host|connection|keep-alive|te|trailers?|transfer-encoding|upgrade|http2-settings|expect|via|forwarded|date|range|origin|referer|user-agent|cache-control|pragma|last-event-id|traceparent|tracestate|baggage|set-cookie2?|cookie2?|alt-used|x-http-method(-override)?|x-method-override)$|^(content|mcp|accept|proxy|sec|if|access-control|x-forwarded)-|^accept$|^x-real-ip$|^x-(original|rewrite)-|^(__proto__|constructor|prototype)$/i;

export function isApiKeyHeader(name: unknown): boolean {
  return typeof name === 'string' && TOKEN.test(name) && !FORBIDDEN.test(name);
}

/** Returns whether a text is the name of an authentication scheme (RFC 9110, section 11.1). */
export function isScheme(scheme: unknown): boolean {
  return typeof scheme === 'string' && TOKEN.test(scheme);
}

/** Maximum number of static headers of a system. */
export const MAX_HEADERS = 16;
/** Maximum size of all names and values, in bytes. */
export const HEADERS_MAX_BYTES = 8_192;
/** Maximum timeout of a system, in milliseconds. */
export const TIMEOUT_MAX_MS = 3_600_000;

/** RFC 9110, section 5.5, as printable ASCII. */
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Returns the rule that names of static headers break; undefined for a valid list.
 * @param apiKeyHeader the header of the system's API key, which no static header may replace
 */
export function headerNamesRule(names: unknown, apiKeyHeader?: string): string | undefined {
  if (!Array.isArray(names) || names.length > MAX_HEADERS) {
    return `must have at most ${MAX_HEADERS} headers`;
  }
  const lower = names.map((name) => String(name).toLowerCase());
  if (!names.every(isApiKeyHeader) || lower.includes('authorization')) {
    return 'must name headers that can be set: not Authorization, and none of the connection or of the protocol';
  }
  if (new Set(lower).size < lower.length) {
    return 'must name each header once, regardless of case';
  }
  return apiKeyHeader !== undefined && lower.includes(apiKeyHeader.toLowerCase())
    ? 'must not name the header of the API key'
    : undefined;
}

/** As {@link headerNamesRule}, for a map of names to values. */
export function headersRule(headers: unknown, apiKeyHeader?: string): string | undefined {
  if (!isJsonObject(headers)) {
    return 'must be an object with string values';
  }
  const namesRule = headerNamesRule(Object.keys(headers), apiKeyHeader);
  if (namesRule !== undefined) {
    return namesRule;
  }
  if (!Object.values(headers).every((value) => typeof value === 'string' && HEADER_VALUE.test(value))) {
    return 'must have values of printable ASCII that are not empty and neither begin nor end with a space';
  }
  return Object.entries(headers).flat().join('').length > HEADERS_MAX_BYTES
    ? `must have at most ${HEADERS_MAX_BYTES} bytes`
    : undefined;
}

/** Maximum length of a scope, in characters. */
export const SCOPE_MAX_LENGTH = 1_024;
/** Maximum number of additional fields of a token request. */
export const MAX_TOKEN_PARAMETERS = 10;
/** Maximum length of the value of an additional field, in characters. */
export const TOKEN_PARAMETER_MAX_LENGTH = 512;

/** RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const PARAMETER_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
/**
 * Fields that the service sets, fields of other grants, names of inherited object members, and names of secrets,
 * because values are shown.
 */
const RESERVED =
  /^(grant_type|client_.*|scope|resource|code|code_verifier|redirect_uri|username|__proto__|constructor|prototype)$|secret|password|assertion|refresh_token/i;
const PARAMETER_VALUE = /^[\x20-\x7e]+$/;

/** Returns whether a value is a scope: names separated by single spaces. */
export function isScope(value: unknown): boolean {
  return typeof value === 'string' && value.length <= SCOPE_MAX_LENGTH && SCOPE.test(value);
}

/** Returns the rule that additional fields of a token request break; undefined for a valid map. */
export function tokenParametersRule(value: unknown): string | undefined {
  if (!isJsonObject(value)) {
    return 'must be an object with string values';
  }
  const parameters = Object.entries(value);
  if (parameters.length > MAX_TOKEN_PARAMETERS) {
    return `must have at most ${MAX_TOKEN_PARAMETERS} members`;
  }
  if (!parameters.every(([name]) => PARAMETER_NAME.test(name) && !RESERVED.test(name))) {
    return 'must not name fields that the service sets, fields of other grants, or secrets; a name has 1 to 64 letters, digits, ".", "_" or "-"';
  }
  return parameters.every(([, text]) => isParameterValue(text))
    ? undefined
    : `must have values of 1 to ${TOKEN_PARAMETER_MAX_LENGTH} printable ASCII characters`;
}

function isParameterValue(text: unknown): boolean {
  return typeof text === 'string' && text.length <= TOKEN_PARAMETER_MAX_LENGTH && PARAMETER_VALUE.test(text);
}
