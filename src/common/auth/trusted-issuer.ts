import { IssuerEndpoints } from './issuer-endpoints.js';
import type { KeySource } from './key-source.js';
import type { TokenIntrospection } from './token-introspection.js';

/** Demands on a token besides a valid signature. Comparisons of types are without case. */
export interface TokenRules {
  /** Value of `iss`, compared as it is. */
  readonly issuer: string;
  /** Value that `aud` is or contains. */
  readonly audience: string;
  /** Signature algorithms, a subset of RS, PS and ES. */
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
