/**
 * A failure with a stable `code` for programs and a `message` for people. `details` names the field and the reason.
 * Subclasses determine whether the caller or the service is at fault; the service adds subclasses for further HTTP statuses.
 */
export abstract class DomainError extends Error {
  abstract readonly code: string;
  override readonly name = this.constructor.name;
  /** Extension members of the error body (RFC 9457, section 3.2), documented by the route. */
  readonly extension?: Readonly<Record<string, unknown>>;
  constructor(
    message: string,
    readonly details?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Invalid input that the sender can correct: HTTP 400. */
export abstract class InvalidRequestError extends DomainError {}

/** A failure with a known cause that is not the caller's fault: HTTP 500. */
export abstract class InternalError extends DomainError {}
