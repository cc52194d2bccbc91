/** Base class of the client's errors. Messages never contain the token. */
export abstract class SvcError extends Error {
  override readonly name: string = this.constructor.name;
}

/** Thrown by `connect` for an invalid URL, or one to which tokens must not be sent. */
export class AddressError extends SvcError {
  constructor(
    message: string,
    /** `not-http`: not an http or https URL. `not-safe`: http to another machine. */
    readonly reason: 'not-http' | 'not-safe',
  ) {
    super(message);
  }
}

/** Thrown when there is no response: service unreachable, connection broken, timeout, or request aborted. */
export class NoAnswerError extends SvcError {
  constructor(
    /** Scheme, host and port of the service. */
    readonly origin: string,
    /** Error code of the system, such as `ECONNREFUSED`, or `TIMEOUT` after `timeoutMs`. */
    readonly code: string | undefined,
    options?: ErrorOptions,
  ) {
    super(`No answer from ${origin}${code === undefined ? '' : ` (${code})`}.`, options);
  }
}

/** Thrown when the service rejects a request, with the fields of its error body. */
export class ServiceError extends SvcError {
  /** Affected field and reason, or what to quote to the operators. */
  readonly details: string | undefined;
  /** Why a process stopped, such as `NO_BRANCH`; undefined if none did. */
  readonly code: string | undefined;

  /** @param body the body, parsed if it is JSON; holds further fields such as `problems` */
  constructor(
    /** HTTP status. */
    readonly status: number,
    readonly body: unknown,
    /** `X-Request-Id` of the response, by which operators find the request in the log. */
    readonly requestId: string | undefined,
    /** `Retry-After` of the response (429, 503). */
    readonly retryAfterSeconds: number | undefined,
  ) {
    const { message, details, code, incident } = membersOf(body);
    super(textOf(message) ?? 'The service did not say why.');
    this.details = textOf(details);
    this.code = textOf(code) ?? textOf(membersOf(incident)['code']);
  }

  /** Creates the error for an unsuccessful response. */
  static async of(response: Response): Promise<ServiceError> {
    const text = await response.text();
    const { headers, status } = response;
    const seconds = headers.get('retry-after');
    const retryAfter = seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
    return new ServiceError(status, parsed(text), headers.get('x-request-id') ?? undefined, retryAfter);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
