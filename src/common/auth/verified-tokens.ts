import { hash } from 'node:crypto';
import type { Principal } from './principal.js';

interface Entry {
  readonly principal: Principal;
  readonly until: number;
}

/** A key that the issuer withdraws, or a changed rule, takes effect no later than this. */
const MAX_AGE_MS = 60_000;
const MAX_ENTRIES = 5_000;

/**
 * Remembers tokens whose signature and claims were verified, so that a busy caller does not cost a signature check per
 * request. Bounded: the entry used longest ago makes room. Holds hashes, never tokens.
 */
export class VerifiedTokens {
  private readonly entries = new Map<string, Entry>();

  /** @param maxEntries tokens remembered at the most */
  constructor(private readonly maxEntries = MAX_ENTRIES) {}

  /**
   * @param now milliseconds since 1970
   * @returns the principal of a token that was verified in the last minute and has not expired
   */
  find(token: string, now: number): Principal | undefined {
    const key = keyOf(token);
    const entry = this.entries.get(key);
    if (entry === undefined) {
      return undefined;
    }
    this.entries.delete(key);
    if (entry.until <= now) {
      return undefined;
    }
    this.entries.set(key, entry); // the order of a Map is its insertion order: this makes it the youngest
    return entry.principal;
  }

  /**
   * @param expiresAt `exp` of the token in milliseconds since 1970
   * @param now milliseconds since 1970
   */
  remember(token: string, principal: Principal, expiresAt: number, now: number): void {
    const until = Math.min(expiresAt, now + MAX_AGE_MS);
    if (until <= now) {
      return;
    }
    if (this.entries.size >= this.maxEntries) {
      this.forgetOldest();
    }
    this.entries.set(keyOf(token), { principal, until });
  }

  private forgetOldest(): void {
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) {
      this.entries.delete(oldest);
    }
  }
}

function keyOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
