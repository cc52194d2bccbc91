import { hash } from 'node:crypto';
import { RecentlyUsed } from '../recently-used.js';
import type { Principal } from '../user/principal.js';

interface Entry {
  readonly principal: Principal;
  readonly until: number;
  readonly keys: number;
}

/** When something is asked: milliseconds since 1970, and the version of the issuer's keys. */
export interface Moment {
  readonly now: number;
  readonly keys: number;
}

const MAX_AGE_MS = 60_000;
const MAX_ENTRIES = 5_000;

/**
 * Remembers tokens whose signature and claims were verified, so that a busy caller does not cost a signature check per
 * request. A change of the issuer's keys ends them all, since one may have been withdrawn. Bounded: the entry used longest ago makes room. Holds hashes, never tokens.
 */
export class VerifiedTokens {
  private readonly entries: RecentlyUsed<string, Entry>;

  /** @param maxEntries tokens remembered at the most */
  constructor(maxEntries = MAX_ENTRIES) {
    this.entries = new RecentlyUsed({ entries: maxEntries });
  }

  find(token: string, { now, keys }: Moment): Principal | undefined {
    const key = keyOf(token);
    const entry = this.entries.get(key);
    if (entry !== undefined && (entry.until <= now || entry.keys !== keys)) {
      this.entries.delete(key);
      return undefined;
    }
    return entry?.principal;
  }

  /** @param moment `expiresAt` is `exp` of the token in milliseconds since 1970 */
  remember(
    token: string,
    principal: Principal,
    { now, keys, expiresAt }: Moment & { readonly expiresAt: number },
  ): void {
    const until = Math.min(expiresAt, now + MAX_AGE_MS);
    if (until > now) {
      this.entries.set(keyOf(token), { principal, until, keys });
    }
  }
}

function keyOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
