import { parsedJson } from '../../../../common/json.js';
import { failureOfStatus, ProbeError } from '../../model/failures.js';

/** A request of a probe; bodies are text. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Says of what has come of the body that it is enough; event streams need not end. */
  isComplete?: (body: string) => boolean;
}

/**
 * How the requests of one probe reach the component.
 * @throws what the client throws; never follows a redirect, which is an answer like any other or an error
 */
export type SendHttp = (url: URL, request: HttpRequest) => Promise<HttpAnswer>;

/** One complete answer of a component. */
export class HttpAnswer {
  constructor(
    readonly status: number,
    private readonly headers: Readonly<Record<string, string | undefined>>,
    /** At most `answerBytes`. */
    readonly body: string,
  ) {}

  /** The first value of a header. */
  header(name: string): string | undefined {
    return this.headers[name.toLowerCase()];
  }

  /** @throws ProbeError when the status is not 2xx */
  expectOk(): this {
    const failure = failureOfStatus(this.status);
    if (failure !== undefined) {
      throw new ProbeError(failure);
    }
    return this;
  }

  /** The body as JSON. @throws ProbeError `protocol` when it is none */
  json(): unknown {
    const value = parsedJson(this.body);
    if (value === undefined) {
      throw new ProbeError('protocol');
    }
    return value;
  }
}
