import { meets, notMet, shown } from './expectation.js';
import { isObject } from './json.js';
import { startStubServer, type StubAnswer, type StubRequest, type StubServer } from './stub-server.js';

/** A call that a REST stub has got. */
export interface RestCall {
  method: string;
  path: string;
  /** Values of the path by the names of its route: `id` of `/clients/:id`. */
  params: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string>;
  /** Parsed where it is JSON; undefined for none. */
  body: unknown;
}

/** What a route answers: `{ status, body, headers }`, each of which may be left out, or what works it out of the call. */
export type RestRoute = RestAnswer | ((call: RestCall) => RestAnswer | Promise<RestAnswer>);

/** An answer; status 200 without one, the body as JSON. */
export interface RestAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** What is expected of a call; parts that are left out may be anything. */
export type ExpectedCall = Partial<RestCall>;

const HTTP_OK = 200;
const NOT_FOUND = 404;

/** Stands in for a system of type REST: answers by routes, and keeps the calls. */
export class RestStub {
  /** All calls since the start, or since `forget`; also those without a route, which are answered with 404. */
  readonly calls: RestCall[] = [];

  private constructor(
    private readonly server: StubServer,
    private readonly routes: Map<string, RestRoute>,
  ) {}

  /** @param routes by method and path, such as `GET /clients/:id` */
  static async start(routes: Record<string, RestRoute>): Promise<RestStub> {
    const known = new Map(Object.entries(routes));
    const stub: RestStub = new RestStub(await startStubServer((request) => stub.answer(request)), known);
    return stub;
  }

  /** What the `baseUrl` of the system becomes. */
  get url(): string {
    return this.server.url;
  }

  /** Answers a route otherwise from now on. */
  on(route: string, answer: RestRoute): void {
    this.routes.set(route, answer);
  }

  forget(): void {
    this.calls.length = 0;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** @throws AssertionError when no such call was made */
  wasCalled(route: string, expected: ExpectedCall = {}): void {
    if (!this.calls.some((call) => paramsOf(route, call) !== undefined && meets(call, expected))) {
      throw notMet(`Expected a call of ${route}${detailsOf(expected)}.`, this.told(route, expected));
    }
  }

  /** @throws AssertionError when such a call was made */
  wasNotCalled(route: string): void {
    if (this.calls.some((call) => paramsOf(route, call) !== undefined)) {
      throw notMet(`Expected no call of ${route}.`, this.told(route, undefined));
    }
  }

  private told(route: string, expected: unknown): Parameters<typeof notMet>[1] {
    const actual = this.calls.filter((call) => paramsOf(route, call) !== undefined);
    const lines = this.calls.map(
      ({ method, path, query, body }) => `${method} ${path} ${shown({ query, body })}`,
    );
    return { actual, expected, lines: lines.length === 0 ? ['There was no call.'] : lines };
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

/** @returns undefined where the route is another one */
function paramsOf(route: string, { method, path }: RestCall): Record<string, string> | undefined {
  const [wanted, pattern = ''] = route.split(' ');
  const parts = pattern.split('/');
  const given = path.split('/');
  const isMet =
    wanted === method &&
    parts.length === given.length &&
    parts.every((part, index) => part.startsWith(':') || part === given[index]);
  return isMet
    ? Object.fromEntries(
        parts.flatMap((part, index) =>
          part.startsWith(':') ? [[part.slice(1), decodeURIComponent(given[index] ?? '')]] : [],
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
  return isObject(expected) && Object.keys(expected).length > 0 ? ` with ${shown(expected)}` : '';
}
