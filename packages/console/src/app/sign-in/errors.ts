/** Fault of an ID token; `form` covers everything else, such as a missing claim. */
export type IdTokenFault = 'signature' | 'issuer' | 'audience' | 'nonce' | 'expiry' | 'form';

/** Thrown when the issuer sent an invalid ID token. */
export class IdTokenError extends Error {
  override readonly name = 'IdTokenError';

  constructor(
    readonly fault: IdTokenFault,
    options?: ErrorOptions,
  ) {
    super(`invalid ID token: ${fault}`, options);
  }
}

/** Thrown when the issuer refused the sign-in (RFC 6749, sections 4.1.2.1 and 5.2; OpenID Connect Core 1.0, section 3.1.2.6). */
export class SignInRefusedError extends Error {
  override readonly name = 'SignInRefusedError';

  /**
   * @param code such as `access_denied`
   * @param description message of the issuer
   */
  constructor(
    readonly code: string,
    readonly description: string | null,
    options?: ErrorOptions,
  ) {
    super(code, options);
  }
}
