/** What is wrong with an ID token; `form` is anything else, such as a missing claim. */
export type IdTokenFault = 'signature' | 'issuer' | 'audience' | 'nonce' | 'expiry' | 'form';

/** The issuer sent an ID token that proves nothing, so nobody is signed in. */
export class IdTokenError extends Error {
  override readonly name = 'IdTokenError';

  constructor(
    readonly fault: IdTokenFault,
    options?: ErrorOptions,
  ) {
    super(`wrong ID token: ${fault}`, options);
  }
}

/** The issuer refused the sign-in (RFC 6749, sections 4.1.2.1 and 5.2; OpenID Connect Core 1.0, section 3.1.2.6). */
export class SignInRefusedError extends Error {
  override readonly name = 'SignInRefusedError';

  /**
   * @param code such as `access_denied`
   * @param description in the words of the issuer
   */
  constructor(
    readonly code: string,
    readonly description: string | null,
    options?: ErrorOptions,
  ) {
    super(code, options);
  }
}
