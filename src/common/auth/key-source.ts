import type { JWSHeaderParameters } from 'jose';

/** Where the public keys of one token issuer come from. */
export interface KeySource {
  /** Another number as soon as a key was added, changed or withdrawn. */
  readonly version: number;

  /**
   * The key that must have signed a token with this header.
   * @param header protected header of the token, its `alg` already on the allow-list
   * @returns the public key, SPKI in PEM
   * @throws AuthenticationRequiredError when the issuer has no such key, or several the header cannot tell apart
   * @throws KeySourceUnavailableError when the keys cannot be had
   */
  keyFor(header: JWSHeaderParameters): Promise<string>;

  /** Seconds since the keys were last confirmed by the issuer; undefined while there are none to verify with. */
  ageSeconds(): number | undefined;

  /** Begins to load keys in the background. Never fails: requests say so while there are none. */
  start(): void;

  /** Ends all background work. */
  stop(): void;
}
