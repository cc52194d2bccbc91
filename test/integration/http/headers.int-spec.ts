import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { connectionTestPath, createPath, createSystemBody, listPath } from '../../support/factories.js';
import { startHttpPeer } from '../../support/peers/peer.js';
import { sendRaw } from './raw-http.js';

const ORIGIN = 'https://app.example.com';
const SYSTEMS_TO_COMPRESS = 10;

describe('headers', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ CORS_ORIGINS: `${ORIGIN},https://other.example.com` });
  });
  afterAll(() => app.close());

  const policyOf = async (path: string) =>
    (await fetch(`${app.url}${path}`)).headers.get('content-security-policy');

  const preflight = (origin: string) =>
    fetch(`${app.url}${createPath()}`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,content-type,svc-platform',
      },
    });

  const read = async (coding: string) => {
    const message = [
      `GET ${listPath('compress')} HTTP/1.1`,
      'Host: x',
      'Connection: close',
      `Authorization: Bearer ${await app.tokenWith({})}`,
      ...(coding === '' ? [] : [`Accept-Encoding: ${coding}`]),
      '\r\n',
    ].join('\r\n');
    const { text, body } = await sendRaw(app.url, { parts: [message] });
    return {
      coding: /^content-encoding: (\S+)/im.exec(text)?.[1],
      vary: /^vary: (.*)$/im.exec(text)?.[1],
      body,
    };
  };

  const traceSeenByServer = async (traceparent: string | undefined): Promise<string | undefined> => {
    let seen: string | undefined;
    const peer = await startHttpPeer((request, response) => {
      seen ??= String(request.headers['traceparent']);
      response.writeHead(404).end();
    });
    await app.request('PATCH', connectionTestPath(), {
      body: { baseUrl: peer.url, authorization: { type: 'NO_AUTH' } },
      headers: traceparent === undefined ? {} : { traceparent },
    });
    await peer.close();
    return seen;
  };

  it.each([
    ['a success', listPath(), true],
    ['a 401', listPath(), false],
    ['a 404', '/unknown', true],
    ['a probe', '/livez', false],
    ['the page of the API document', '/docs', false],
  ])('protect %s', async (_, path, hasToken) => {
    const authorization = `Bearer ${await app.tokenWith({})}`;
    const { headers } = await fetch(`${app.url}${path}`, { headers: hasToken ? { authorization } : {} });
    expect(Object.fromEntries(headers)).toMatchObject({
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      'x-xss-protection': '0',
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/^[\w-]{8,64}$/),
    });
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
    expect(headers.get('etag')).toBeNull();
  });

  it('of HEAD are those of GET, without a body; OPTIONS needs no token', async () => {
    const path = listPath();
    const head = async (headers: Record<string, string>) => {
      const response = await fetch(`${app.url}${path}`, { method: 'HEAD', headers });
      return [response.status, response.headers.get('content-type'), await response.text()];
    };
    const json = 'application/json; charset=utf-8';
    expect(await head({ authorization: `Bearer ${await app.tokenWith({})}` })).toEqual([200, json, '']);
    expect(await head({})).toEqual([401, json, '']);
    const options = await fetch(`${app.url}${path}`, { method: 'OPTIONS' });
    expect([options.status, await options.text()]).toEqual([204, '']);
  });

  it('let pages load nothing, except that the API documentation loads its own files', async () => {
    expect(await policyOf('/livez')).toBe("default-src 'none';frame-ancestors 'none'");
    expect(await policyOf('/docsx')).toBe("default-src 'none';frame-ancestors 'none'");
    expect(await policyOf('/docs')).toMatch(/^default-src 'self';/);
  });

  describe('for other origins', () => {
    it('allow a listed origin, with credentials', async () => {
      const response = await preflight(ORIGIN);
      expect(response.status).toBe(204);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': ORIGIN,
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE',
        'access-control-allow-headers': expect.stringMatching(
          /Authorization.*Last-Event-ID.*svc-platform.*traceparent/,
        ),
        vary: expect.stringContaining('Origin'),
      });
      const answer = await app.request('GET', listPath(), { headers: { origin: ORIGIN } });
      expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(answer.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
      expect(answer.headers.get('vary')).toMatch(/Origin/);
    });

    it('let a page of a listed origin read errors as well', async () => {
      const refused = await app.request('GET', listPath(), { token: null, headers: { origin: ORIGIN } });
      expect(refused.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    });

    it.each([
      'https://evil.example.com',
      'https://app.example.com.evil.com',
      'http://app.example.com',
      'https://app.example.com:8443',
      'https://APP.example.com',
      'null',
    ])('do not allow %s', async (origin) => {
      const response = await preflight(origin);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
      const answer = await app.request('GET', listPath(), { headers: { origin } });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    });
  });

  describe('of content coding', () => {
    beforeAll(async () => {
      for (let index = 0; index < SYSTEMS_TO_COMPRESS; index += 1) {
        await app.request('PATCH', createPath('compress'), { body: createSystemBody() });
      }
    });

    it('name br or gzip only if the caller accepts it', async () => {
      const plain = await read('');
      expect(plain.coding).toBeUndefined();
      expect(plain.vary).toContain('Accept-Encoding');
      expect((await read('identity')).coding).toBeUndefined();
      expect((await read('zstd, compress')).coding).toBeUndefined();
      expect((await read('gzip;q=0')).coding).toBeUndefined();
      expect((await read('gzip;q=0, br;q=0, identity')).coding).toBeUndefined();
      expect((await read('br;q=0, gzip;q=0.5')).coding).toBe('gzip');
      expect((await read('*;q=0')).coding).toBeUndefined();
      expect((await read('identity;q=0, *;q=0')).coding).toBeUndefined();
      expect((await read('*; q=0.0, identity;q=0')).coding).toBeUndefined();
      expect((await read('br, identity;q=0, *;q=0')).coding).toBe('br');
      expect((await read('identity;q=0')).coding).toBe('gzip');
      expect((await read('identity; q=0.0, br')).coding).toBe('br');
      const gzip = await read('gzip');
      expect(gzip.coding).toBe('gzip');
      const br = await read('gzip, deflate, br');
      expect(br.coding).toBe('br');
      const systems = JSON.parse(
        plain.body.slice(plain.body.indexOf('{'), plain.body.lastIndexOf('}') + 1),
      ) as object;
      expect(JSON.parse(gunzipSync(dataOf(gzip.body)).toString())).toEqual(systems);
      expect(JSON.parse(brotliDecompressSync(dataOf(br.body)).toString())).toEqual(systems);
    });
  });

  describe('of tracing', () => {
    it.each(['0123abcd', 'a-request_id-of-the-caller', 'x'.repeat(64)])(
      'return the request id %s of the caller',
      async (id) => {
        const response = await app.request('GET', '/livez', { headers: { 'x-request-id': id } });
        expect(response.headers.get('x-request-id')).toBe(id);
      },
    );

    it.each(['short', 'x'.repeat(65), 'with space', '<script>12345', 'a,b,c,d,e,f', ''])(
      'replace the invalid request id "%s"',
      async (id) => {
        const response = await app.request('GET', '/livez', { headers: { 'x-request-id': id } });
        expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      },
    );

    it('continue the trace of the caller as far as the MCP server, with a span of the service', async () => {
      const seen = await traceSeenByServer('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
      expect(seen).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/);
      expect(seen).not.toContain('00f067aa0ba902b7');
    });

    it.each([
      undefined,
      '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
      '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
      '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01',
      'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'nonsense',
    ])('start a new trace if the caller sends %s', async (traceparent) => {
      const seen = await traceSeenByServer(traceparent);
      expect(seen).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
      expect(seen).not.toContain('4bf92f3577b34da6');
    });
  });
});

/** Decodes a body in chunked transfer coding. Each character of the text is one byte. */
function dataOf(chunked: string): Buffer {
  const chunks: Buffer[] = [];
  for (let rest = Buffer.from(chunked, 'latin1'); rest.length > 0;) {
    const lineEnd = rest.indexOf('\r\n');
    const start = lineEnd + 2;
    const size = Number.parseInt(rest.subarray(0, lineEnd).toString(), 16);
    chunks.push(rest.subarray(start, start + size));
    rest = rest.subarray(size === 0 ? rest.length : start + size + 2);
  }
  return Buffer.concat(chunks);
}
