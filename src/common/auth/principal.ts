import type { IncomingMessage } from 'node:http';
import type { UserReference } from '../user/user-reference.js';

/** Who calls. The identity is the pair of issuer and subject; names and e-mail addresses can change hands. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  readonly user: UserReference;
  /** Permissions that the token grants by PERMISSION_RULES. */
  readonly permissions: ReadonlySet<string>;
  /** `jti` of the token, for the audit log. */
  readonly tokenId?: string;
}

// Kept off the request object: nothing that logs or copies a request can leak it, nothing in a request can forge it.
const principals = new WeakMap<IncomingMessage, Principal>();

/** The authenticated caller of a request; undefined on public routes. */
export function principalOf(request: IncomingMessage): Principal | undefined {
  return principals.get(request);
}

/** Notes who sent a request. Only the bearer middleware calls this. */
export function setPrincipal(request: IncomingMessage, principal: Principal): void {
  principals.set(request, principal);
}
