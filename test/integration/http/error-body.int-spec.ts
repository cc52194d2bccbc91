import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, detailsPath, listPath, systemPath } from '../../support/factories.js';
import { sendRaw } from './raw-http.js';

const PERCENT_PATHS = [
  '/%zz',
  '/%',
  '/%c3%28',
  '/%00',
  '/%c0%af',
  '/%ed%a0%80',
  '/%2e%2e%2fetc',
  '/..%2f..%2fetc',
];

describe('error bodies', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());

  const NO_ENDPOINT = { error: 'Not Found', message: 'No such endpoint.', status: 404 };
  const NO_CALLER = {
    error: 'Unauthorized',
    message: 'Authentication required or failed.',
    status: 401,
    details: expect.any(String),
  };

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE'])(
    '%s of an unknown path is 401 without a token and 404 with one',
    async (method) => {
      // fetch refuses TRACE, so the test sends raw bytes.
      const send = async (headers: string) =>
        sendRaw(app.url, {
          parts: [`${method} /unknown/path HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`],
        });
      const anonymous = await send('');
      expect([anonymous.status, JSON.parse(anonymous.body)]).toEqual([401, NO_CALLER]);
      expect(anonymous.text).toContain('WWW-Authenticate: Bearer\r\n');
      const known = await send(`Authorization: Bearer ${await app.tokenWith({})}\r\n`);
      expect([known.status, JSON.parse(known.body)]).toEqual([404, NO_ENDPOINT]);
    },
  );

  it.each([
    ['POST', createPath()],
    ['GET', createPath()],
    ['PUT', detailsPath('x')],
    ['DELETE', listPath()],
    ['POST', '/livez'],
    ['DELETE', '/docs-json'],
  ])('a method that a path does not have is 405: %s %s', async (method, path) => {
    const response = await app.request(method, path);
    expect([response.status, response.body]).toEqual([
      405,
      {
        error: 'Method Not Allowed',
        message: 'This endpoint has no such method.',
        status: 405,
        details: `Allowed methods: ${response.headers.get('allow')}.`,
      },
    ]);
    expect(response.headers.get('allow')).not.toContain(method);
  });

  it('a wrong method names all methods of the path in Allow', async () => {
    const allowed = async (path: string) => (await app.request('POST', path)).headers.get('allow');
    expect(await allowed(createPath())).toBe('PATCH');
    expect(await allowed(detailsPath('x'))).toBe('GET, HEAD');
    expect(await allowed(systemPath('x'))).toBe('DELETE, PATCH');
    expect(await allowed('/livez')).toBe('GET, HEAD');
  });

  it.each([
    ['GET', `${listPath()}/`],
    ['GET', listPath().replace('appmanager', 'AppManager')],
    ['GET', listPath().replace('all/info', 'all/INFO')],
    ['PATCH', `${createPath()}/`],
    ['POST', '/rtm/api/runtime/app/a/build/b/process-name/p/start/'],
    ['GET', '/api/platform/discover/'],
  ])('a path in another case or with a trailing slash is unknown: %s %s', async (method, path) => {
    const response = await app.request(method, path);
    expect([response.status, response.body]).toEqual([404, NO_ENDPOINT]);
  });

  it.each(['/livez/', '/LIVEZ', '/docs-json/'])(
    'a variant of a public path is not public: %s',
    async (path) => {
      expect((await app.request('GET', path, { token: null })).status).toBe(401);
      expect((await app.request('GET', path)).status).toBe(404);
    },
  );

  it.each([...PERCENT_PATHS, ...PERCENT_PATHS.map((path) => `/docs${path}`)])(
    'an unusual percent-encoding never leads to 500: %s',
    async (path) => {
      for (const token of ['', `Authorization: Bearer ${await app.tokenWith({})}\r\n`]) {
        const answer = await sendRaw(app.url, {
          parts: [`GET ${path} HTTP/1.1\r\nHost: x\r\n${token}Connection: close\r\n\r\n`],
        });
        expect([400, 401, 403, 404]).toContain(answer.status);
        expect(JSON.parse(answer.body)).toMatchObject({ status: answer.status, message: expect.any(String) });
      }
    },
  );

  it.each(['%zz', '%00', '%0a', 'a%2fb', 'a b', '%F0%9F%98%80', 'a'.repeat(65), '%E2%80%AE', '__proto__%20'])(
    'an identifier outside the rule is 400: %s',
    async (id) => {
      const response = await app.request('GET', listPath('app', id.replace(' ', '%20')));
      expect([response.status, response.body['error']]).toEqual([400, 'Bad Request']);
    },
  );

  it.each(['__proto__', 'constructor', 'toString'])(
    'a valid identifier that names a JavaScript property is not found: %s',
    async (id) => {
      const answer = await app.request('GET', detailsPath(id));
      expect([answer.status, answer.body['message']]).toEqual([404, 'System not found.']);
    },
  );

  it.each([
    ['.', 'systemResourceId: must not be "." or "..", which are relative segments of a path'],
    ['%ED%A0%80', 'its %-encoded bytes must be UTF-8'],
    ['%ff', 'its %-encoded bytes must be UTF-8'],
    ['a%20b', 'systemResourceId: must be 1 to 64 letters, digits, ".", "_" or "-"'],
  ])('says what is wrong with the identifier %s', async (id, details) => {
    const authorization = `Authorization: Bearer ${await app.tokenWith({})}\r\n`;
    const answer = await sendRaw(app.url, {
      parts: [`GET ${detailsPath(id)} HTTP/1.1\r\nHost: x\r\n${authorization}Connection: close\r\n\r\n`],
    });
    expect(JSON.parse(answer.body)).toMatchObject({ status: 400, details });
  });

  it('a long path without a token is 401', async () => {
    const response = await app.request('GET', `/${'a'.repeat(15_000)}`, { token: null });
    expect(response.status).toBe(401);
  });

  it('a long identifier is refused with a short body', async () => {
    const longId = await app.request('GET', detailsPath('a'.repeat(10_000)));
    expect([longId.status, longId.text.length < 1_000]).toEqual([400, true]);
  });

  it('has the members of RFC 9457 for a caller that accepts problem documents', async () => {
    const headers = { accept: 'application/problem+json' };
    const response = await app.request('GET', detailsPath('unknown'), { headers });
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(response.body).toEqual({
      error: 'Not Found',
      message: expect.any(String),
      status: 404,
      type: 'about:blank',
      title: 'Not Found',
      detail: expect.any(String),
    });
    const refused = await app.request('GET', detailsPath('unknown'), { headers, token: null });
    expect(refused.body).toMatchObject({ status: 401, type: 'about:blank', title: 'Unauthorized' });
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each([
    'application/problem+json;q=0',
    'application/json, Application/Problem+JSON ; q=0.0',
    '*/*',
    'text/html',
    'application/json, text/plain',
    'application/xml',
    '',
  ])('is JSON for a caller that accepts "%s"', async (accept) => {
    const response = await app.request('GET', detailsPath('unknown'), { headers: { accept } });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('names invalid fields, up to a limit', async () => {
    const body = createSystemBody(
      Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`unknown-${index}`, 1])),
    );
    const response = await app.request('PATCH', createPath(), { body });
    expect(response.status).toBe(400);
    expect(response.body['details']).toContain('unknown-0: is not a known field');
    expect(response.text.length).toBeLessThan(8_000);
    const long = await app.request('PATCH', createPath(), {
      body: createSystemBody({ ['k'.repeat(100_000)]: 1 }),
    });
    expect([long.status, long.text.length < 8_000]).toEqual([400, true]);
  });
});
