/**
 * A failure with a stable `code` for programs and a `message` for people. `details` names the field and the reason.
 * Subclasses below say whose fault it is; the service adds those with an HTTP status of their own.
 */
export abstract class DomainError extends Error {
  abstract readonly code: string;
  override readonly name = this.constructor.name;
  /** Members of the error body beyond the usual ones (RFC 9457, section 3.2), documented by the route. */
  readonly extension?: Readonly<Record<string, unknown>>;
  constructor(
    message: string,
    readonly details?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The input breaks a rule that its sender can correct: 400 in HTTP. */
export abstract class InvalidRequestError extends DomainError {}

/** A failure with a known reason that is not the caller's: 500 in HTTP. */
export abstract class InternalError extends DomainError {}
