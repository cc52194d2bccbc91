import { isApiKeyHeader } from './credential-header.js';

/** Maximum number of static headers of a system. */
export const MAX_HEADERS = 16;
/** Maximum size of all names and values, in bytes. */
export const HEADERS_MAX_BYTES = 8_192;
/** Largest time-out of a system in milliseconds. */
export const TIMEOUT_MAX_MS = 3_600_000;

/** RFC 9110, section 5.5, as printable ASCII. */
const VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

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
    return 'must name each header once, without regard to case';
  }
  return apiKeyHeader !== undefined && lower.includes(apiKeyHeader.toLowerCase())
    ? 'must not name the header of the API key'
    : undefined;
}

/** As {@link headerNamesRule}, for a map of names to values. */
export function headersRule(headers: unknown, apiKeyHeader?: string): string | undefined {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    return 'must be an object of texts';
  }
  const values: unknown[] = Object.values(headers);
  const namesRule = headerNamesRule(Object.keys(headers), apiKeyHeader);
  if (namesRule !== undefined) {
    return namesRule;
  }
  if (!values.every((value) => typeof value === 'string' && VALUE.test(value))) {
    return 'must have values of printable ASCII that are not empty and neither begin nor end with a space';
  }
  return Object.entries(headers).flat().join('').length > HEADERS_MAX_BYTES
    ? `must have at most ${HEADERS_MAX_BYTES} bytes`
    : undefined;
}
