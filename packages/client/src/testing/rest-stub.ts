import { format, matches, mismatch } from './expectation.js';
import { isObject } from './json.js';
import { startStubServer, type StubAnswer, type StubRequest, type StubServer } from './stub-server.js';

/** Call received by a REST stub. */
export interface RestCall {
  method: string;
  path: string;
  /** Path parameters, such as `id` of `/clients/:id`. */
  params: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string>;
  /** Parsed if it is JSON; undefined without a body. */
  body: unknown;
}

/** Answer of a route, or a function of the call. */
export type RestRoute = RestAnswer | ((call: RestCall) => RestAnswer | Promise<RestAnswer>);

/** Answer with a JSON body. Default status: 200. */
export interface RestAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Expected parts of a call. */
export type ExpectedCall = Partial<RestCall>;

const HTTP_OK = 200;
const NOT_FOUND = 404;

/** Stub of a REST service that records calls. */
export class RestStub {
  /** All calls since the start or the last `forget`, including those without a route, which get 404. */
  readonly calls: RestCall[] = [];

  private constructor(
    private readonly server: StubServer,
    private readonly routes: Map<string, RestRoute>,
  ) {}

  /** @param routes answers by method and path, such as `GET /clients/:id` */
  static async start(routes: Record<string, RestRoute>): Promise<RestStub> {
    const known = new Map(Object.entries(routes));
    const stub: RestStub = new RestStub(await startStubServer((request) => stub.answer(request)), known);
    return stub;
  }

  /** `baseUrl` of the system. */
  get url(): string {
    return this.server.url;
  }

  /** Adds a route or changes its answer. */
  on(route: string, answer: RestRoute): void {
    this.routes.set(route, answer);
  }

  /** Clears the recorded calls. */
  forget(): void {
    this.calls.length = 0;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Asserts that a call of the route was made. @throws AssertionError */
  wasCalled(route: string, expected: ExpectedCall = {}): void {
    if (!this.calls.some((call) => paramsOf(route, call) !== undefined && matches(call, expected))) {
      throw mismatch(`Expected a call of ${route}${detailsOf(expected)}.`, this.comparison(route, expected));
    }
  }

  /** Asserts that no call of the route was made. @throws AssertionError */
  wasNotCalled(route: string): void {
    if (this.calls.some((call) => paramsOf(route, call) !== undefined)) {
      throw mismatch(`Expected no call of ${route}.`, this.comparison(route, undefined));
    }
  }

  private comparison(route: string, expected: unknown): Parameters<typeof mismatch>[1] {
    const actual = this.calls.filter((call) => paramsOf(route, call) !== undefined);
    const lines = this.calls.map(
      ({ method, path, query, body }) => `${method} ${path} ${format({ query, body })}`,
    );
    return { actual, expected, lines: lines.length === 0 ? ['No call was made.'] : lines };
  }

  private async answer(request: StubRequest): Promise<StubAnswer> {
    const { pathname, searchParams } = new URL(request.target, 'http://stub');
    const call: RestCall = {
      method: request.method,
      path: pathname,
      params: {},
      query: Object.fromEntries(searchParams),
      headers: request.headers,
      body: request.body === '' ? undefined : parsed(request.body),
    };
    this.calls.push(call);
    for (const [route, answer] of this.routes) {
      const params = paramsOf(route, call);
      if (params !== undefined) {
        call.params = params;
        return toAnswer(typeof answer === 'function' ? await answer(call) : answer);
      }
    }
    return { status: NOT_FOUND };
  }
}

/** Matches a call against a route. @returns the path parameters, or undefined */
function paramsOf(route: string, { method, path }: RestCall): Record<string, string> | undefined {
  const [routeMethod, pattern = ''] = route.split(' ');
  const parts = pattern.split('/');
  const segments = path.split('/');
  const isMatch =
    routeMethod === method &&
    parts.length === segments.length &&
    parts.every((part, index) => part.startsWith(':') || part === segments[index]);
  return isMatch
    ? Object.fromEntries(
        parts.flatMap((part, index) =>
          part.startsWith(':') ? [[part.slice(1), decodeURIComponent(segments[index] ?? '')]] : [],
        ),
      )
    : undefined;
}

function toAnswer({ status = HTTP_OK, headers = {}, body }: RestAnswer): StubAnswer {
  return body === undefined
    ? { status, headers }
    : { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function detailsOf(expected: ExpectedCall): string {
  return isObject(expected) && Object.keys(expected).length > 0 ? ` with ${format(expected)}` : '';
}
