import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Grant } from './grant.js';
import type { UserReference } from './user-reference.js';
import { cached } from '#engine/support';

/** The caller. Its identity is the pair of issuer and subject, since names and e-mail addresses can change hands. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  readonly user: UserReference;
  /** Permissions that PERMISSION_RULES grant to the token, each with the applications that it is granted for. */
  readonly permissions: ReadonlyMap<string, Grant>;
}

/** Actor of work that no caller has requested. No issuer of tokens has an empty name. */
export const SERVICE_ITSELF: Principal = {
  issuer: '',
  subject: '',
  user: { firstName: '', lastName: '', userName: 'svc-platform', impersonatingUser: null },
  permissions: new Map(),
};

const FINGERPRINT_LENGTH = 16;

/** Cache by principal: a verified token keeps its principal for many requests. */
const hashes = new WeakMap<object, string>();

/**
 * Returns a short name of a caller for places where the identity itself does not belong; equal for equal issuer and
 * subject.
 * @returns the first 16 hexadecimal digits of the SHA-256 of issuer, line feed and subject
 */
export function callerFingerprint(caller: Pick<Principal, 'issuer' | 'subject'>): string {
  return callerHash(caller).slice(0, FINGERPRINT_LENGTH);
}

/** Returns the key of a caller in the memory of this process; equal for equal issuer and subject. */
export function callerKey({ issuer, subject }: Pick<Principal, 'issuer' | 'subject'>): string {
  return `${issuer}\n${subject}`;
}

/**
 * Returns the key of a caller in database columns.
 * @returns the SHA-256 of issuer, line feed and subject, hexadecimal
 */
export function callerHash(caller: Pick<Principal, 'issuer' | 'subject'>): string {
  return cached(hashes, caller, () => createHash('sha256').update(callerKey(caller)).digest('hex'));
}

type Recheck = () => Principal | Promise<Principal>;

// Kept outside of the request object: nothing that logs or copies a request can leak it, nothing in a request can forge
// it.
const principals = new WeakMap<IncomingMessage, { principal: Principal; recheck: Recheck }>();

/** Returns the authenticated caller of a request; undefined on public routes. */
export function principalOf(request: IncomingMessage): Principal | undefined {
  return principals.get(request)?.principal;
}

/** Stores the caller of a request, and how to authenticate them again. Only the bearer middleware calls this. */
export function setPrincipal(request: IncomingMessage, principal: Principal, recheck: Recheck): void {
  principals.set(request, { principal, recheck });
}

/**
 * Authenticates the caller of a request again, for responses that outlive the check at their start. Cheap for a token
 * that was verified within the last minute.
 * @throws UnauthorizedError when the token is no longer valid, because it expired or the issuer withdrew its key
 * @throws KeySourceUnavailableError
 */
export async function recheckCaller(request: IncomingMessage): Promise<Principal> {
  const known = principals.get(request);
  if (known === undefined) {
    throw new TypeError('The request has no authenticated caller.');
  }
  return known.recheck();
}
