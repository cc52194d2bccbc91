import type { JWSHeaderParameters } from 'jose';
import type { TokenIntrospection } from './token-introspection.js';

/** Provides the public keys of one token issuer. */
export interface KeySource {
  /** Changes whenever a key is added, changed or withdrawn. */
  readonly version: number;

  /**
   * Returns the key that must have signed a token with this header.
   * @param header protected header of the token, its `alg` already on the allow-list
   * @returns SPKI in PEM
   * @throws AuthenticationRequiredError when the issuer has no such key, or several that the header cannot tell apart
   * @throws KeySourceUnavailableError when the keys are not available
   */
  keyFor(header: JWSHeaderParameters): Promise<string>;

  /** Seconds since the issuer last confirmed the keys; undefined while there are no usable keys. */
  ageSeconds(): number | undefined;

  /** Starts to load keys in the background. Never fails: requests fail while there are no keys. */
  start(): void;

  stop(): void;
}

/** Endpoints in the discovery document that browsers call (OpenID Connect Discovery 1.0, section 3; RFC 8414). */
const CONNECT_ENDPOINTS = ['token_endpoint', 'revocation_endpoint', 'jwks_uri'] as const;
/** Endpoints that browsers open in a frame. */
const FRAME_ENDPOINTS = ['authorization_endpoint'] as const;
/** Host names and addresses. Other characters, such as `*` and `;`, would mean something in a content security policy. */
const HOST = /^([a-z\d._-]+|\[[a-f\d:]+\])$/;

/**
 * Origins at which browsers reach an issuer: its own, and those of the endpoints in its discovery document. An endpoint
 * counts only if it is http or https with a plain host, and http only if the issuer itself uses http.
 */
export class IssuerEndpoints {
  private document: Readonly<Record<string, unknown>> = {};

  constructor(private readonly issuer: string) {}

  setDocument(document: object): void {
    this.document = { ...document };
  }

  get connectOrigins(): readonly string[] {
    return this.originsOf(CONNECT_ENDPOINTS);
  }

  get frameOrigins(): readonly string[] {
    return this.originsOf(FRAME_ENDPOINTS);
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

/** Requirements for a token besides a valid signature. Token types are compared regardless of case. */
export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  /**
   * Accepted `typ` headers, without `application/`; `none` accepts tokens without one. RFC 9068 issuers write `at+jwt`,
   * which alone is the safest list; Keycloak and Entra write `JWT`.
   * @default at+jwt, jwt, none
   */
  readonly tokenTypes?: readonly string[];
  /**
   * Required claims: name -> values, one of which the claim must equal or contain.
   * @default none
   */
  readonly requiredClaims?: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * Claim that lists permissions by name, in addition to those that PERMISSION_RULES grant. Only used in evaluation
   * mode.
   * @default none
   */
  readonly permissionsClaim?: string;
}

/**
 * The only issuer whose bearer tokens are accepted: its rules, keys, optional introspection and browser endpoints.
 * Injected by class.
 */
export class TrustedIssuer {
  constructor(
    readonly rules: TokenRules,
    readonly keys: KeySource,
    readonly introspection?: TokenIntrospection,
    readonly endpoints = new IssuerEndpoints(rules.issuer),
  ) {}
}
