const SECOND_MS = 1_000;

/**
 * The time that a server asks for before the next try (RFC 9110, section 10.2.3), or `retry-after-ms` of some models. A date is
 * compared with the server's own.
 * @returns milliseconds, not below 0; null when it says nothing that can be read
 */
export function retryAfterOf(headers: Headers | undefined): number | null {
  const exact = headers?.get('retry-after-ms') ?? '';
  if (/^\d{1,9}(\.\d{1,3})?$/.test(exact)) {
    return Number(exact);
  }
  const text = headers?.get('retry-after') ?? '';
  if (/^\d{1,9}$/.test(text)) {
    return Number(text) * SECOND_MS;
  }
  const delay = Date.parse(text) - Date.parse(headers?.get('date') ?? '');
  return Number.isNaN(delay) ? null : Math.max(0, delay);
}
