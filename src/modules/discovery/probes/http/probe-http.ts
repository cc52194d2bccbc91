import type { Component, ComponentCredentials } from '../../model/component.types.js';
import { textsOption, urlOf } from '../net/component-options.js';
import { ProbeError, type ProbeFailure } from '../../model/probe.error.js';
import { toProbeError } from '../net/probe-failure.js';
import type { ProbeContext, ProbeWarning } from '../../model/probe.js';
import type { HttpAnswer } from './http-answer.js';
import { type HttpRequest, type HttpTransport, REDIRECTS } from './http-transport.js';

/** Codes of undici for answers that keep to no limit or no grammar. */
const CODES: Readonly<Record<string, ProbeFailure>> = {
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large',
  UND_ERR_SOCKET: 'network',
  UND_ERR_INVALID_ARG: 'configuration',
  UND_ERR_ABORTED: 'timeout',
};
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const MAX_CLOCK_DIFFERENCE_MS = 30_000;

/** What one conversation needs. */
export interface ProbeHttpOptions {
  component: Component;
  /** Where requests go; the component's endpoint unless its kind has a second address. */
  base: URL;
  context: ProbeContext;
  transport: HttpTransport;
  now: () => number;
}

/**
 * The HTTP requests of one probe. Credentials, headers and query of the component go to the origin of `base` alone, and
 * to nobody else its answers name.
 */
export class ProbeHttp {
  private readonly startedAt = performance.now();
  private clockSeconds: number | undefined;

  constructor(private readonly options: ProbeHttpOptions) {}

  get base(): URL {
    return this.options.base;
  }

  /** Milliseconds until the deadline of the probe. */
  get remainingMs(): number {
    return Math.max(0, this.options.context.timeoutMs - (performance.now() - this.startedAt));
  }

  /** A URL below the base: `/health` below `http://host/app/` is `http://host/app/health`. */
  below(path: string): URL {
    const url = new URL(this.base);
    const [pathname = '', search = ''] = path.split('?');
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/${pathname.replace(/^\/+/, '')}`;
    url.search = search;
    return url;
  }

  /**
   * @param target path below the base, or a URL
   * @throws ProbeError `redirect` for a redirect, and for whatever keeps the answer from being read
   */
  get(target: string | URL, headers: Record<string, string> = {}): Promise<HttpAnswer> {
    return this.send(target, { method: 'GET', headers });
  }

  /** As `get`, with a form as body. */
  post(target: string | URL, form: Record<string, string>): Promise<HttpAnswer> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.send(target, { method: 'POST', headers, body: new URLSearchParams(form).toString() });
  }

  /** Any other request. @throws ProbeError as `get` */
  request(target: string | URL, request: HttpRequest): Promise<HttpAnswer> {
    return this.send(target, request);
  }

  /** As `get`, for an answer of JSON with a status of 2xx. */
  async json(target: string | URL): Promise<unknown> {
    return (await this.get(target)).expectOk().json();
  }

  /** What the conversation showed besides the answers: certificate, clock, encryption. */
  warnings(): ProbeWarning[] {
    const { hostname, protocol } = this.base;
    return [
      ...this.options.transport.warnings(),
      ...(this.clockSeconds === undefined
        ? []
        : [{ code: 'clock_differs' as const, seconds: this.clockSeconds }]),
      ...(protocol === 'http:' && !LOOPBACK.test(hostname) ? [{ code: 'plain_http' as const }] : []),
    ];
  }

  private async send(target: string | URL, request: HttpRequest): Promise<HttpAnswer> {
    const url = this.completed(typeof target === 'string' ? this.below(target) : target);
    const { transport, context } = this.options;
    let answer: HttpAnswer;
    try {
      const headers = { ...this.headersFor(url), ...request.headers };
      answer = await transport.send(url, { ...request, headers });
    } catch (error) {
      throw toProbeError(error, context.signal, CODES);
    }
    if (REDIRECTS.has(answer.status)) {
      throw new ProbeError('redirect');
    }
    this.compareClocks(answer);
    return answer;
  }

  /** The configured query may be a key, so nobody but the component gets it. */
  private completed(target: URL): URL {
    const url = new URL(target);
    if (url.origin === this.base.origin) {
      const query = textsOption(this.options.component, 'query');
      Object.entries(query).forEach(([name, value]) => url.searchParams.set(name, value));
    }
    return url;
  }

  private headersFor(url: URL): Record<string, string> {
    const { component } = this.options;
    const common = { accept: 'application/json, text/plain;q=0.9, */*;q=0.1', 'accept-encoding': 'identity' };
    if (url.origin !== this.base.origin) {
      return common;
    }
    return { ...common, ...authorization(component.credentials), ...textsOption(component, 'headers') };
  }

  /**
   * RFC 9110, section 6.6.1: `Date` is when the answer was made, in whole seconds. One with `Age` comes from a cache
   * (RFC 9111, section 5.1) and was made before.
   */
  private compareClocks(answer: HttpAnswer): void {
    const difference = Date.parse(answer.header('date') ?? '') - this.options.now();
    if (answer.header('age') === undefined && Math.abs(difference) > MAX_CLOCK_DIFFERENCE_MS) {
      this.clockSeconds = Math.round(Math.abs(difference) / 1_000);
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

/** The endpoint of a component that speaks HTTP. @throws ProbeError `configuration` */
export function httpUrlOf(text: string): URL {
  const url = urlOf(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ProbeError('configuration');
  }
  return url;
}
