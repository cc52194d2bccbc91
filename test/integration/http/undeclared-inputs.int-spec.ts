import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildOpenApi } from '../../../src/openapi.js';
import { dereferenced } from '../../support/openapi-contract.js';
import { TestApp } from '../../support/app.js';
import { createPath, listPath } from '../../support/factories.js';
import { sendRaw } from './raw-http.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const METADATA = '/.well-known/oauth-protected-resource/mcp/app/{appId}';
const WITHOUT_TOKEN = new Set([
  '/livez',
  '/readyz',
  '/metrics',
  '/console/settings',
  METADATA,
  `${METADATA}/search`,
]);
/** Status of routes that look up the path before anything else: no resource has the ids of these tests. */
const PATH_FIRST = 404;

describe('a body of a route with fixed fields', () => {
  it('has a limited number of values', async () => {
    const app = await TestApp.start();
    const refused = async (body: object): Promise<string> => {
      const { status, body: answer } = await app.request('PATCH', createPath(), { body });
      expect(status).toBe(400);
      return String(answer['details']);
    };
    const names = Array.from({ length: 10_000 }, (_, index) => [`name${index}`, index]);
    expect(await refused(Object.fromEntries(names) as object)).toContain('name0: is not a known field');
    const lists = Array.from({ length: 2_000 }, () => []);
    expect(await refused({ action: 'CREATE', payload: lists })).toBe('(body): must have at most 1500 values');
    await app.close();
  });
});

describe('routes without a request body', () => {
  let app: TestApp;
  let routes: Route[];
  beforeAll(async () => {
    app = await TestApp.start();
    routes = operationsOf(app).filter(({ takesBody }) => !takesBody);
  });
  afterAll(() => app.close());

  it('refuse fields by name with every method and transfer coding', async () => {
    const authorization = `Authorization: Bearer ${await app.tokenWith({})}\r\n`;
    const json = 'Content-Type: application/json\r\nConnection: close\r\n';
    const text = '{"force":true,"why":"x"}';
    const sent = [`Content-Length: ${text.length}\r\n\r\n${text}`, chunked(text)];
    for (const { method, path } of routes) {
      const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\n${authorization}${json}`;
      for (const rest of sent) {
        const { status, body } = await sendRaw(app.url, { parts: [head + rest] });
        const actual = [method, path, status, status === PATH_FIRST ? '' : JSON.parse(body).details];
        expect([
          [method, path, 400, 'force: is not a known field; why: is not a known field'],
          [method, path, PATH_FIRST, ''],
        ]).toContainEqual(actual);
      }
    }
  });

  it('accept an empty object and no body', async () => {
    for (const { method, path } of routes.filter((route) => route.method !== 'GET')) {
      const tag = { 'if-match': '*' };
      const taken = [
        await app.request(method, path, { body: {}, headers: tag }),
        await app.request(method, path, { headers: tag }),
      ];
      expect([path, ...taken.map(({ status }) => status)]).toEqual([path, 404, 404]);
    }
  });

  it('accept empty chunked bodies, as some proxies send them, and refuse bytes without a content type', async () => {
    const authorization = `Authorization: Bearer ${await app.tokenWith({})}\r\nIf-Match: *\r\n`;
    for (const { method, path } of routes) {
      const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\n${authorization}Connection: close\r\n`;
      const statusOf = async (parts: string[]): Promise<number | undefined> =>
        (await sendRaw(app.url, { parts, pauseMs: 20 })).status;
      const plain = await statusOf([`${head}\r\n`]);
      const announced = `${head}Transfer-Encoding: chunked\r\n\r\n`;
      expect([method, path, await statusOf([announced, '0\r\n\r\n'])]).toEqual([method, path, plain]);
      const typeless = await statusOf([announced, '1\r\nx\r\n', '0\r\n\r\n']);
      expect([method, path, typeless === 400 || typeless === PATH_FIRST]).toEqual([method, path, true]);
    }
    const { body } = await sendRaw(app.url, {
      parts: [
        `GET ${listPath()} HTTP/1.1\r\nHost: x\r\n${authorization}Connection: close\r\n`,
        'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
      ],
    });
    expect(JSON.parse(body)).toMatchObject({
      status: 400,
      message: 'Content-Type must be application/json.',
    });
  });
});

describe('query parameters', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.close());

  it('that a route does not have are refused by name, on every route', async () => {
    const refused: string[] = [];
    for (const { method, path, query, repeated } of operationsOf(app)) {
      const { status, body } = await app.request(method, `${path}?nosuchname=1&x%20y=&x%20y=`);
      expect([400, PATH_FIRST]).toContain(status);
      if (status === 400) {
        const known = query.length === 0 ? '' : `. Known: ${query.toSorted().join(', ')}`;
        expect(body['details']).toBe(
          `nosuchname: is not a known query parameter${known}; x y: is not a known query parameter`,
        );
        refused.push(path);
      }
      for (const name of status === 400 ? query : []) {
        const near = `${name}s`;
        const other = await app.request(method, `${path}?${near}=1`);
        expect([other.status, other.body['details']]).toEqual([
          400,
          `${near}: is not a known query parameter. Did you mean "${name}"?`,
        ]);
        const { body: twice } = await app.request(method, `${path}?${name}=1&${name}=1`);
        const once = `${name}: must be given once`;
        expect(String(twice['details']).includes(once)).toBe(!repeated.includes(name));
      }
    }
    expect(refused.length).toBeGreaterThan(25);
  });

  it('are ignored on public paths', async () => {
    for (const path of ['/livez', '/readyz', '/metrics', '/docs', '/docs-json', '/docs-yaml']) {
      expect([path, (await fetch(`${app.url}${path}?nosuchname=1`)).status]).toEqual([path, 200]);
    }
  });

  it('are checked after the caller', async () => {
    const path = '/rtm/api/runtime/process-instance?buildId=x';
    expect((await app.request('GET', path, { token: null })).status).toBe(401);
    const { status, body } = await app.request('GET', path);
    expect([status, body['message'], body['details']]).toEqual([
      400,
      'Request validation failed.',
      'buildId: is not a known query parameter. Known: applicationId, before, data, from, hasIncidents, limit, parentProcessInstanceUuid, ' +
        'processDefinitionName, state, to',
    ]);
  });
});

function chunked(text: string): string {
  return `Transfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}

interface Route {
  method: string;
  path: string;
  /** Names of its query parameters. */
  query: string[];
  repeated: string[];
  takesBody: boolean;
}

/** Returns every operation of the OpenAPI document that requires a token, with a placeholder for path parameters. */
function operationsOf(app: TestApp): Route[] {
  interface Operation {
    parameters?: { name: string; in: string; schema?: { type?: string } }[];
    requestBody?: object;
  }
  return Object.entries(dereferenced(buildOpenApi(app.nest)).paths).flatMap(([template, item]) =>
    METHODS.flatMap((method) => {
      const operation = (item as Record<string, Operation | undefined>)[method];
      if (operation === undefined || WITHOUT_TOKEN.has(template)) {
        return [];
      }
      const path = template
        .replace('{scanId}', '1')
        .replaceAll(/\{[^}]+\}/g, '01a1ff0c-2957-76de-8fd8-d440b850adff');
      const parameters = (operation.parameters ?? []).filter((one) => one.in === 'query');
      const query = parameters.map(({ name }) => name);
      const repeated = parameters.filter(({ schema }) => schema?.type === 'array').map(({ name }) => name);
      return [
        {
          method: method.toUpperCase(),
          path,
          query,
          repeated,
          takesBody: operation.requestBody !== undefined,
        },
      ];
    }),
  );
}
