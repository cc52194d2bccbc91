import { OutboundError } from './outbound.error.js';

const KEEPS_METHOD = new Set([301, 302, 307, 308]);
const SEE_OTHER = 303;

/** The part of a response a redirect is read from. */
interface RedirectResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}

/**
 * Where a response redirects to, if it does. A redirect must stay within the origin, so that neither credentials nor a
 * body reach another party. It must keep the method; RFC 9110, section 15.4, allows that for 301 and 302.
 * @returns undefined when the response is not a redirect
 * @throws OutboundError `redirect` for any other redirect
 */
export function redirectTarget(response: RedirectResponse, from: URL, method: string): URL | undefined {
  const { status } = response;
  const keepsMethod = KEEPS_METHOD.has(status) || (status === SEE_OTHER && /^(GET|HEAD)$/i.test(method));
  if (!keepsMethod && status !== SEE_OTHER) {
    return undefined;
  }
  const location = response.headers.get('location');
  if (!keepsMethod || location === null || !URL.canParse(location, from.href)) {
    throw new OutboundError('redirect');
  }
  const target = new URL(location, from);
  if (target.origin !== from.origin) {
    throw new OutboundError('redirect');
  }
  return target;
}
