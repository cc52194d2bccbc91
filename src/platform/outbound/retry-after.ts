const SECOND_MS = 1_000;

/**
 * Returns how long a server wants callers to wait before a retry: `retry-after` (RFC 9110, section 10.2.3), or
 * `retry-after-ms` of some model providers. A date is relative to the server's own `date`.
 * @returns milliseconds, at least 0; null when the headers are absent or invalid
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
