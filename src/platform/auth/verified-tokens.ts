import { hash } from 'node:crypto';
import { LruCache } from '../lru-cache.js';
import type { Principal } from '../user/principal.js';

interface Entry {
  readonly principal: Principal;
  readonly until: number;
  readonly keys: number;
}

/** Time of a lookup in milliseconds since 1970, and the version of the issuer's keys. */
export interface Moment {
  readonly now: number;
  readonly keys: number;
}

const MAX_AGE_MS = 60_000;
const MAX_ENTRIES = 5_000;

/**
 * Cache of tokens whose signature and claims were verified, so that a busy caller does not cost a signature check per
 * request. A change of the issuer's keys invalidates all entries, because a key may have been withdrawn. Bounded:
 * evicts the least recently used entry. Holds hashes, never tokens.
 */
export class VerifiedTokens {
  private readonly entries: LruCache<string, Entry>;

  /** @param maxEntries maximum number of tokens in the cache */
  constructor(maxEntries = MAX_ENTRIES) {
    this.entries = new LruCache({ entries: maxEntries });
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
