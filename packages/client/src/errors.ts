/** What went wrong between the client and the service. Messages never hold the token. */
export abstract class SvcError extends Error {
  override readonly name: string = this.constructor.name;
}

/** Thrown by `connect` for an address that is none, or that a token must not be sent to. */
export class AddressError extends SvcError {
  constructor(
    message: string,
    /** `not-http`: no http or https address. `not-safe`: http to another machine. */
    readonly reason: 'not-http' | 'not-safe',
  ) {
    super(message);
  }
}

/** Thrown when no answer came: the service is not there, the connection broke, it took too long, or the caller hung up. */
export class NoAnswerError extends SvcError {
  constructor(
    /** Scheme, host and port of the service. */
    readonly origin: string,
    /** What the system said, such as `ECONNREFUSED`; `TIMEOUT` when `timeoutMs` were over. */
    readonly code: string | undefined,
    options?: ErrorOptions,
  ) {
    super(`No answer from ${origin}${code === undefined ? '' : ` (${code})`}.`, options);
  }
}

/** Thrown when the service refuses a request, with the members of its error body. */
export class ServiceError extends SvcError {
  /** Which field and why, or what to quote to the operators. */
  readonly details: string | undefined;
  /** Why a process stopped, such as `NO_BRANCH`; only where one did. */
  readonly code: string | undefined;

  /** @param body the answer, parsed where it was JSON; further members such as `problems` are here */
  constructor(
    /** Status of the answer. */
    readonly status: number,
    readonly body: unknown,
    /** `X-Request-Id` of the answer, by which the operators find the request in their log. */
    readonly requestId: string | undefined,
    /** When to come back, where the service said it (429, 503). */
    readonly retryAfterSeconds: number | undefined,
  ) {
    const { message, details, code, incident } = membersOf(body);
    super(textOf(message) ?? 'The service did not say why.');
    this.details = textOf(details);
    this.code = textOf(code) ?? textOf(membersOf(incident)['code']);
  }

  /** The error that an answer without success means. */
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
