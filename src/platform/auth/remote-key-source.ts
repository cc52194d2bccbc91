import { KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { createLocalJWKSet, errors } from 'jose';
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import { AuthenticationRequiredError, KeySourceUnavailableError } from './auth.errors.js';
import { IssuerDocumentError } from './issuer-documents.js';
import { tokenLimits } from './token.limits.js';
import type { KeySource } from './trusted-issuer.js';
import { cached } from '#engine/support';

const RSA_MIN_BITS = 2_048; // RFC 7518, sections 3.3 and 3.5

class PublicKeys {
  private readonly select: ReturnType<typeof createLocalJWKSet>;
  private readonly ids: ReadonlySet<string | undefined>;
  private readonly pems = new WeakMap<CryptoKey, string>();

  /** @throws JOSEError when the key set is malformed */
  constructor(keySet: JSONWebKeySet) {
    this.select = createLocalJWKSet(keySet);
    this.ids = new Set(keySet.keys.map(({ kid }) => kid));
  }

  /** Returns whether only a newer key set could contain the key: the header names an unknown id. */
  lacks({ kid }: JWSHeaderParameters): boolean {
    return kid !== undefined && !this.ids.has(kid);
  }

  /**
   * Returns the only key that matches kid and alg of the header, as SPKI in PEM.
   * @throws AuthenticationRequiredError when none matches, several match, or an RSA key is too short
   * @throws KeySourceUnavailableError when the issuer publishes the key in a broken form
   */
  async pemFor(header: JWSHeaderParameters): Promise<string> {
    const key = await this.select(header).catch((cause: unknown) => {
      throw cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWKSMultipleMatchingKeys
        ? new AuthenticationRequiredError('unknown_key', { cause })
        : new KeySourceUnavailableError({ cause });
    });
    return cached(this.pems, key, () => toPem(key));
  }
}

function toPem(key: CryptoKey): string {
  const publicKey = KeyObject.from(key);
  if ((publicKey.asymmetricKeyDetails?.modulusLength ?? RSA_MIN_BITS) < RSA_MIN_BITS) {
    throw new AuthenticationRequiredError('unknown_key');
  }
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

const SECOND_MS = 1_000;
/** Time between attempts while the issuer is down. The service recovers this long after the issuer. */
const RETRY_MS = 1_000;
/** Maximum wait for a key. Instead of a longer wait, which callers would not endure, the token is rejected immediately. */
const MAX_WAIT_MS = 10_000;
/**
 * Maximum number of waiting requests with unknown key ids. Further ones are rejected immediately, so that junk cannot
 * pile up.
 */
const MAX_WAITING = 1_000;

/**
 * Keys of a remote issuer, loaded and renewed in the background. Requests wait for the issuer in two cases only: during
 * the first load, and when they name an unknown key id. Requests with unknown ids share one load, which starts at once
 * or at the end of the cool-down of the previous one. So a rotation fails no request, and junk key ids cost the issuer
 * one request per cool-down.
 */
export class RemoteKeySource implements KeySource {
  private readonly logger = new Logger(RemoteKeySource.name);
  private keys: PublicKeys | undefined;
  private published = '';
  private changes = 0;
  private loadedAt = Number.NEGATIVE_INFINITY;
  private loading: Promise<void> | undefined;
  private cooledLoad: Promise<void> | undefined;
  private cooldownEnd = Number.NEGATIVE_INFINITY;
  private waiting = 0;
  private failing = false;
  private timer: NodeJS.Timeout | undefined;
  private stopped = true;

  /** @param fetchKeys requests the keys once, with its own deadline */
  constructor(private readonly fetchKeys: () => Promise<JSONWebKeySet>) {}

  get version(): number {
    return this.changes;
  }

  start(): void {
    this.stopped = false;
    void this.renew();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  ageSeconds(): number | undefined {
    return this.usableKeys() && Math.floor((performance.now() - this.loadedAt) / 1_000);
  }

  async keyFor(header: JWSHeaderParameters): Promise<string> {
    if (!this.usableKeys()) {
      await this.loading;
    }
    if (this.currentKeys().lacks(header)) {
      await this.waitForNewKeys(header);
    }
    return this.currentKeys().pemFor(header);
  }

  private async waitForNewKeys(header: JWSHeaderParameters): Promise<void> {
    if (this.waiting >= MAX_WAITING || this.cooldownEnd - performance.now() > MAX_WAIT_MS) {
      throw new AuthenticationRequiredError('unknown_key');
    }
    this.waiting += 1;
    try {
      await this.loading;
      // That load may have begun before the issuer published the key, so a later one is needed.
      if (this.currentKeys().lacks(header)) {
        await this.loadAfterCooldown();
      }
    } finally {
      this.waiting -= 1;
    }
    if (this.failing && this.currentKeys().lacks(header)) {
      throw new KeySourceUnavailableError(); // the load failed, so the key may be valid
    }
  }

  private loadAfterCooldown(): Promise<void> {
    const wait = Math.max(0, this.cooldownEnd - performance.now());
    this.cooledLoad ??= delay(wait, undefined, { ref: false }).then(() => {
      this.cooledLoad = undefined; // requests from now on may need a later load
      this.cooldownEnd = performance.now() + tokenLimits.jwksCooldownSeconds * SECOND_MS;
      return this.load();
    });
    return this.cooledLoad;
  }

  private async renew(): Promise<void> {
    await this.load();
    if (!this.stopped) {
      this.timer = setTimeout(
        () => void this.renew(),
        this.failing ? RETRY_MS : tokenLimits.jwksMaxAgeSeconds * SECOND_MS,
      ).unref();
    }
  }

  /** Runs one load after the other, so that an older response cannot overwrite a newer one. */
  private async load(): Promise<void> {
    const load = (this.loading ?? Promise.resolve()).then(() => this.loadOnce());
    this.loading = load;
    await load;
    if (this.loading === load) {
      this.loading = undefined;
    }
  }

  private async loadOnce(): Promise<void> {
    try {
      this.take(await this.fetchKeys());
      this.loadedAt = performance.now();
      if (this.failing) {
        this.logger.log('Signing keys of the token issuer are available again');
      }
      this.failing = false;
    } catch (error) {
      if (!this.failing) {
        const failure = error instanceof IssuerDocumentError ? error.message : 'malformed key set';
        this.logger.warn(`Signing keys of the token issuer could not be loaded: ${failure}`);
      }
      this.failing = true;
    }
  }

  /** Replaces the keys only if they changed, so that prepared keys and verified tokens stay cached. */
  private take(keySet: JSONWebKeySet): void {
    const published = JSON.stringify(keySet.keys.map((key) => JSON.stringify(key)).toSorted());
    if (published !== this.published) {
      this.keys = new PublicKeys(keySet);
      this.published = published;
      this.changes += 1;
    }
  }

  private currentKeys(): PublicKeys {
    const keys = this.usableKeys();
    if (keys === undefined) {
      throw new KeySourceUnavailableError();
    }
    return keys;
  }

  private usableKeys(): PublicKeys | undefined {
    const age = performance.now() - this.loadedAt;
    return age <= (tokenLimits.jwksMaxAgeSeconds + tokenLimits.jwksStaleSeconds) * SECOND_MS
      ? this.keys
      : undefined;
  }
}
