import { isJsonObject, parsedJson, type JsonObject } from '#engine/json';
import type { Component, ComponentCredentials } from '../../model/component.types.js';
import { failureOfStatus, ProbeError, type ProbeFailure } from '../../model/failures.js';
import { toProbeError } from '../net/probe-failure.js';
import type { ProbeContext } from '../../model/probe.js';

/** An HTTP request of a probe, with a text body. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Returns whether the body received so far is sufficient, since event streams may never end. */
  isComplete?: (body: string) => boolean;
}

/**
 * Sends a request of a probe to the component.
 * @throws what the client throws. Never follows redirects
 */
export type SendHttp = (url: URL, request: HttpRequest) => Promise<HttpAnswer>;

/** A complete response of a component. */
export class HttpAnswer {
  constructor(
    readonly status: number,
    private readonly headers: Readonly<Record<string, string | undefined>>,
    /** Body of at most `answerBytes`. */
    readonly body: string,
  ) {}

  /** Returns the first value of a header. */
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

  /** Parses the body as JSON. @throws ProbeError `protocol` when it is invalid */
  json(): unknown {
    const value = parsedJson(this.body);
    if (value === undefined) {
      throw new ProbeError('protocol');
    }
    return value;
  }
}

/** Error codes of undici for responses that exceed a limit or violate HTTP. */
const CODES: Readonly<Record<string, ProbeFailure>> = {
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large',
  UND_ERR_SOCKET: 'network',
  UND_ERR_INVALID_ARG: 'configuration',
  UND_ERR_ABORTED: 'timeout',
};
/** Statuses of redirects. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const MAX_CLOCK_DIFFERENCE_MS = 30_000;

/** Sends the HTTP requests of a probe. Secrets of the component are sent only to the origin of `base`. */
export class ProbeHttp {
  private readonly startedAt = performance.now();

  constructor(
    readonly base: URL,
    private readonly component: Component,
    private readonly context: ProbeContext,
    private readonly send: SendHttp,
  ) {
    if (base.protocol === 'http:' && !LOOPBACK.test(base.hostname)) {
      context.warn({ code: 'plain_http' });
    }
  }

  /** Milliseconds until the deadline of the probe. */
  get remainingMs(): number {
    return Math.max(0, this.context.timeoutMs - (performance.now() - this.startedAt));
  }

  /** Returns a URL below the base: `/health` below `http://host/app/` is `http://host/app/health`. */
  below(path: string): URL {
    const url = new URL(this.base);
    const [pathname = '', search = ''] = path.split('?');
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/${pathname.replace(/^\/+/, '')}`;
    url.search = search;
    return url;
  }

  /**
   * Sends a GET request.
   * @param target path below the base, or a URL
   * @throws ProbeError `redirect` for a redirect, and other failures when the response cannot be read
   */
  get(target: string | URL, headers: Record<string, string> = {}): Promise<HttpAnswer> {
    return this.request(target, { method: 'GET', headers });
  }

  /** Sends a POST request with a form. @throws ProbeError as `get` */
  post(target: string | URL, form: Record<string, string>): Promise<HttpAnswer> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.request(target, { method: 'POST', headers, body: new URLSearchParams(form).toString() });
  }

  /** Sends a GET request and returns the JSON object in the 2xx response. @throws ProbeError as `get` */
  async object(target: string | URL): Promise<JsonObject> {
    const body = (await this.get(target)).expectOk().json();
    if (!isJsonObject(body)) {
      throw new ProbeError('protocol');
    }
    return body;
  }

  /** Sends any request. @throws ProbeError as `get` */
  async request(target: string | URL, request: HttpRequest): Promise<HttpAnswer> {
    const url = this.completed(typeof target === 'string' ? this.below(target) : target);
    let answer: HttpAnswer;
    try {
      const headers = { ...this.headersFor(url), ...request.headers };
      answer = await this.send(url, { ...request, headers });
    } catch (error) {
      throw toProbeError(error, this.context.signal, CODES);
    }
    if (REDIRECTS.has(answer.status)) {
      throw new ProbeError('redirect');
    }
    this.compareClocks(answer);
    return answer;
  }

  /** Adds the configured query, which may contain a key, to URLs of the component only. */
  private completed(target: URL): URL {
    const url = new URL(target);
    if (url.origin === this.base.origin) {
      const query = this.component.options.query ?? {};
      Object.entries(query).forEach(([name, value]) => url.searchParams.set(name, value));
    }
    return url;
  }

  private headersFor(url: URL): Record<string, string> {
    const { component } = this;
    const common = { accept: 'application/json, text/plain;q=0.9, */*;q=0.1', 'accept-encoding': 'identity' };
    if (url.origin !== this.base.origin) {
      return common;
    }
    return { ...common, ...authorization(component.credentials), ...component.options.headers };
  }

  /** Compares the clocks by `Date` (RFC 9110, section 6.6.1), the time of the response. A response with `Age` comes from a cache. */
  private compareClocks(answer: HttpAnswer): void {
    const difference = Math.abs(Date.parse(answer.header('date') ?? '') - this.context.now());
    if (answer.header('age') === undefined && difference > MAX_CLOCK_DIFFERENCE_MS) {
      this.context.warn({ code: 'clock_differs', seconds: Math.round(difference / 1_000) });
    }
  }
}

function authorization(credentials: ComponentCredentials | null): Record<string, string> {
  const { username, password = '', token } = credentials ?? {};
  if (token !== undefined) {
    return { authorization: `Bearer ${token}` };
  }
  return username === undefined
    ? {}
    : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
}

/** Parses an HTTP URL without user information. @throws ProbeError `configuration` */
export function httpUrlOf(text: string): URL {
  const url = /^https?:/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') {
    throw new ProbeError('configuration');
  }
  return url;
}
