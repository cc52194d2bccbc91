import type { JWSHeaderParameters } from 'jose';
import type { TokenIntrospection } from './token-introspection.js';

/** Where the public keys of one token issuer come from. */
export interface KeySource {
  /** Another number as soon as a key was added, changed or withdrawn. */
  readonly version: number;

  /**
   * The key that must have signed a token with this header.
   * @param header protected header of the token, its `alg` already on the allow-list
   * @throws AuthenticationRequiredError when the issuer has no such key, or several the header cannot tell apart
   * @throws KeySourceUnavailableError when the keys cannot be had
   */
  keyFor(header: JWSHeaderParameters): Promise<string>;

  /** Seconds since the keys were last confirmed by the issuer; undefined while there are none to verify with. */
  ageSeconds(): number | undefined;

  /** Begins to load keys in the background. Never fails: requests say so while there are none. */
  start(): void;

  stop(): void;
}

/** Endpoints of an issuer that its discovery document names (OpenID Connect Discovery 1.0, section 3; RFC 8414). */
const CALLED = ['token_endpoint', 'revocation_endpoint', 'jwks_uri'] as const;
const SHOWN = ['authorization_endpoint'] as const;
/** What else an address may have for a host would mean something in a policy, such as `*` and `;`. */
const HOST = /^([a-z\d._-]+|\[[a-f\d:]+\])$/;

/**
 * At which origins a browser finds an issuer. Many have all at one; some have the endpoint for tokens elsewhere. What a document names
 * counts only where it is an origin of http or https with a plain host, and http only where the issuer itself is at http.
 */
export class IssuerEndpoints {
  private document: Readonly<Record<string, unknown>> = {};

  constructor(private readonly issuer: string) {}

  take(document: object): void {
    this.document = { ...document };
  }

  get called(): readonly string[] {
    return this.originsOf(CALLED);
  }

  get shown(): readonly string[] {
    return this.originsOf(SHOWN);
  }

  private originsOf(names: readonly string[]): readonly string[] {
    const protocols = this.issuer.startsWith('http:') ? ['https:', 'http:'] : ['https:'];
    const addresses = [this.issuer, ...names.map((name) => this.document[name])];
    return [...new Set(addresses.flatMap((address) => originOf(address, protocols)))];
  }
}

function originOf(address: unknown, protocols: readonly string[]): string[] {
  const url = typeof address === 'string' ? URL.parse(address) : null;
  return url !== null && protocols.includes(url.protocol) && HOST.test(url.hostname) ? [url.origin] : [];
}

/** Demands on a token besides a valid signature. Comparisons of types are without case. */
export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  /**
   * Accepted `typ` headers, without `application/`; `none` stands for an absent one. RFC 9068 issuers write `at+jwt`,
   * which is the safest list of one; Keycloak and Entra write `JWT`.
   * @default at+jwt, jwt, none
   */
  readonly tokenTypes?: readonly string[];
  /**
   * Claims that a token must have: name -> values, of which it must be or contain one.
   * @default none
   */
  readonly requiredClaims?: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * Claim that lists permissions by name, in addition to those that PERMISSION_RULES grant. Evaluation mode alone has one.
   * @default none
   */
  readonly permissionsClaim?: string;
}

/** The one issuer whose bearer tokens are accepted: its rules, its keys, whether it is asked for each token, and where a browser finds it. Injected by class. */
export class TrustedIssuer {
  constructor(
    readonly rules: TokenRules,
    readonly keys: KeySource,
    readonly introspection?: TokenIntrospection,
    readonly endpoints = new IssuerEndpoints(rules.issuer),
  ) {}
}
