import { ProbeError } from '../../model/probe.error.js';

/** One complete answer of a component. */
export class HttpAnswer {
  constructor(
    readonly status: number,
    private readonly headers: Readonly<Record<string, string | undefined>>,
    /** At most `answerBytes`. */
    readonly body: string,
  ) {}

  get isOk(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The first value of a header. */
  header(name: string): string | undefined {
    return this.headers[name.toLowerCase()];
  }

  /** @throws ProbeError `auth` for 401, `forbidden` for 403, `http_error` for everything else that is not 2xx */
  expectOk(): this {
    if (this.isOk) {
      return this;
    }
    const failures = { 401: 'auth', 403: 'forbidden' } as const;
    throw new ProbeError(failures[this.status as keyof typeof failures] ?? 'http_error');
  }

  /** The body as JSON. @throws ProbeError `protocol` when it is none */
  json(): unknown {
    try {
      return JSON.parse(this.body) as unknown;
    } catch {
      throw new ProbeError('protocol');
    }
  }
}
