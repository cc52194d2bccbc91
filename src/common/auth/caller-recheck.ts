import type { IncomingMessage } from 'node:http';
import type { Principal } from '../user/principal.js';

/** Recognises the caller of one request by its token, as it did at first. */
type Recheck = () => Principal | Promise<Principal>;

const rechecks = new WeakMap<IncomingMessage, Recheck>();

/**
 * Recognises the caller of a request again, for answers that outlive the check at their beginning. It costs next to nothing
 * for a token that was verified in the last minute.
 * @throws UnauthorizedError when the token would not be taken now, since it expired or the issuer withdrew its key
 * @throws KeySourceUnavailableError
 */
export async function recheckCaller(request: IncomingMessage): Promise<Principal> {
  const recheck = rechecks.get(request);
  if (recheck === undefined) {
    throw new TypeError('Nobody was recognised for this request.');
  }
  return recheck();
}

/** Notes how. Only the bearer middleware calls this. */
export function setRecheck(request: IncomingMessage, recheck: Recheck): void {
  rechecks.set(request, recheck);
}
