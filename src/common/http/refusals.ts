import { ConflictError, NotFoundError } from '../errors/domain.error.js';
import { requestContext } from '../logging/request-context.js';

/** Says whether what was read of the database since a moment may decide. */
export interface ReadWitness {
  /**
   * @param since on the clock of `performance.now()`
   * @throws UnavailableError when another server took the writes over, or may have
   */
  demandWriterSince(since: number): Promise<void>;
}

/**
 * A 404 or 409 that comes of what a server knew before another one took over would tell a caller that what was acknowledged to him is not
 * there. Such an answer is 503, which he repeats. A write cannot be wrong: that server takes none.
 */
export class Refusals {
  private readonly confirmed = new WeakMap<object, Promise<unknown>>();

  /** @param witness none where the database is one server */
  constructor(private readonly witness?: ReadWitness) {}

  /** Whether an error may be another one once it is confirmed. */
  isUnsure(error: unknown): error is NotFoundError | ConflictError {
    return this.witness !== undefined && (error instanceof NotFoundError || error instanceof ConflictError);
  }

  /** @returns the error, or what is told in its place; never rejects */
  async confirm(error: unknown): Promise<unknown> {
    if (!this.isUnsure(error)) {
      return error;
    }
    const known = this.confirmed.get(error) ?? this.ask(error);
    this.confirmed.set(error, known);
    return known;
  }

  private async ask(error: NotFoundError | ConflictError): Promise<unknown> {
    const { receivedAt } = requestContext() ?? {};
    if (receivedAt === undefined) {
      return error;
    }
    try {
      await this.witness?.demandWriterSince(receivedAt);
      return error;
    } catch (outage) {
      return outage;
    }
  }
}
