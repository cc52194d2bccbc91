import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Grant } from './grant.js';
import type { UserReference } from './user-reference.js';
import { cached } from '#engine/support';

/** Who calls. The identity is the pair of issuer and subject; names and e-mail addresses can change hands. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  readonly user: UserReference;
  /** Permissions that the token grants by PERMISSION_RULES, each with the applications that it is granted for. */
  readonly permissions: ReadonlyMap<string, Grant>;
}

/** Who acts where nobody has asked for it. No issuer of tokens has an empty name. */
export const SERVICE_ITSELF: Principal = {
  issuer: '',
  subject: '',
  user: { firstName: '', lastName: '', userName: 'svc-platform', impersonatingUser: null },
  permissions: new Map(),
};

const FINGERPRINT_LENGTH = 16;

/** Of callers who were asked for: a verified token keeps its principal for many requests. */
const hashes = new WeakMap<object, string>();

/**
 * Names a caller where the identity itself does not belong: equal for equal issuer and subject.
 * @returns the first 16 hexadecimal digits of the SHA-256 of issuer, line feed and subject
 */
export function callerFingerprint(caller: Pick<Principal, 'issuer' | 'subject'>): string {
  return callerHash(caller).slice(0, FINGERPRINT_LENGTH);
}

/** Names a caller in the memory of this process; equal for equal issuer and subject. */
export function callerKey({ issuer, subject }: Pick<Principal, 'issuer' | 'subject'>): string {
  return `${issuer}\n${subject}`;
}

/**
 * Names a caller in a column that is compared.
 * @returns the SHA-256 of issuer, line feed and subject, hexadecimal
 */
export function callerHash(caller: Pick<Principal, 'issuer' | 'subject'>): string {
  return cached(hashes, caller, () => createHash('sha256').update(callerKey(caller)).digest('hex'));
}

type Recheck = () => Principal | Promise<Principal>;

// Kept off the request object: nothing that logs or copies a request can leak it, nothing in a request can forge it.
const principals = new WeakMap<IncomingMessage, { principal: Principal; recheck: Recheck }>();

/** The authenticated caller of a request; undefined on public routes. */
export function principalOf(request: IncomingMessage): Principal | undefined {
  return principals.get(request)?.principal;
}

/** Notes who sent a request, and how to recognise the caller again. Only the bearer middleware calls this. */
export function setPrincipal(request: IncomingMessage, principal: Principal, recheck: Recheck): void {
  principals.set(request, { principal, recheck });
}

/**
 * Recognises the caller of a request again, for answers that outlive the check at their beginning. It costs next to nothing
 * for a token that was verified in the last minute.
 * @throws UnauthorizedError when the token would not be taken now, since it expired or the issuer withdrew its key
 * @throws KeySourceUnavailableError
 */
export async function recheckCaller(request: IncomingMessage): Promise<Principal> {
  const known = principals.get(request);
  if (known === undefined) {
    throw new TypeError('Nobody was recognised for this request.');
  }
  return known.recheck();
}
