import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp, type TestResponse } from '../../support/app.js';
import { createPath, createSystemBody, detailsPath, systemPath, toolPath } from '../../support/factories.js';

const LIMIT = 65_536;
const VALUES = 1_000;
const MEGABYTE = 1_048_576;
const DEPTHS = [10, 100, 1_000, 1_500, 2_000, 2_500, 3_000, 10_000, 30_000];
const UNKNOWN_TOOL = toolPath({ resourceId: 'none', systemId: 'none', toolId: 'none' });

describe('request bodies', () => {
  let app: TestApp;
  let noPermission: string;
  beforeAll(async () => {
    app = await TestApp.start({
      'httpLimits.bodyBytes': String(LIMIT),
      'httpLimits.bodyValues': String(VALUES),
    });
    noPermission = await app.tokenWith({ scope: 'openid' });
  });
  afterAll(() => app.close());

  const send = (rawBody: string | Buffer, headers: Record<string, string> = {}): Promise<TestResponse> =>
    app.request('PATCH', createPath(), { rawBody: rawBody as string, headers });

  describe('are not parsed before the caller and the path are checked', () => {
    it.each([
      ['broken JSON', '{"action":', {}],
      ['another content type', '<xml/>', { 'content-type': 'text/xml' }],
      ['an unknown coding', 'x', { 'content-encoding': 'compress' }],
      ['an invalid gzip body', 'x', { 'content-encoding': 'gzip' }],
      ['a body of 10 MB', 'x'.repeat(10 * MEGABYTE), {}],
    ])('%s', async (_, rawBody, headers) => {
      const statuses: number[] = [];
      for (const token of [null, noPermission]) {
        statuses.push((await app.request('PATCH', createPath(), { token, rawBody, headers })).status);
      }
      for (const path of [systemPath('none'), UNKNOWN_TOOL]) {
        statuses.push((await app.request('PATCH', path, { rawBody, headers })).status);
      }
      expect(statuses).toEqual([401, 403, 404, 404]);
    });
  });

  it.each([
    ['nothing', ''],
    ['a word', 'null'],
    ['a number', '7'],
    ['a text', '"x"'],
    ['a list', '[]'],
  ])('that are not a JSON object are refused: %s', async (_, rawBody) => {
    const response = await send(rawBody);
    expect(response.status).toBe(400);
  });

  it.each([
    '{',
    '{"a":1}}',
    "{'a':1}",
    '{"a":1,}',
    '{"a":01}',
    '{"a":NaN}',
    '\u00a0{}',
    '{"a":"\u0001"}',
    '{"a":/*x*/1}',
  ])('that are not valid JSON are refused: %s', async (rawBody) =>
    expectRefused(await send(rawBody), 'Request body is not valid JSON.'),
  );

  it('may be as large as the limit and no larger', async () => {
    expect((await send(bodyOf(LIMIT))).status).toBe(201);
    const response = await send(bodyOf(LIMIT + 1));
    expectRefused(response, 'Request body is too large.');
    expect(response.body['details']).toBe(`the limit is ${LIMIT} bytes`);
    const stream = new Blob([bodyOf(LIMIT + 1)]).stream();
    const chunked = await app.request('PATCH', createPath(), { rawBody: stream as never });
    expectRefused(chunked, 'Request body is too large.');
  });

  it('have as many values as the limit and no more', async () => {
    const bodyWith = (count: number): string => JSON.stringify({ x: Array(count - 2).fill('1,[') });
    expectRefused(await send(bodyWith(VALUES)), 'Request validation failed.');
    const response = await send(bodyWith(VALUES + 1));
    expectRefused(response, 'Request body has too many values.');
    expect(response.body['details']).toBe(`the limit is ${VALUES} values`);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/merge-patch+json',
    '',
  ])('must be declared as application/json: "%s"', async (type) => {
    const response = await send(JSON.stringify(createSystemBody()), { 'content-type': type });
    expectRefused(response, 'Content-Type must be application/json.');
  });

  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'application/json ; charset="UTF-8"',
  ])('are accepted as %s', async (type) => {
    const response = await send(JSON.stringify(createSystemBody()), { 'content-type': type });
    expect(response.status).toBe(201);
  });

  it.each(['latin1', 'utf-7', 'utf-16', 'x-unknown', '""'])('in charset %s are refused', async (charset) => {
    const type = `application/json; charset=${charset}`;
    const response = await send(JSON.stringify(createSystemBody()), { 'content-type': type });
    expectRefused(response, 'Charset of the request must be utf-8.');
  });

  it('with invalid UTF-8 get replacement characters', async () => {
    const [start, end] = JSON.stringify(createSystemBody({ payload: { name: '§' } })).split('§') as [
      string,
      string,
    ];
    const rawBody = Buffer.concat([Buffer.from(start), Buffer.from([0xc3, 0x28]), Buffer.from(end)]);
    const response = await send(rawBody);
    expect([response.status, response.body['name']]).toEqual([201, '\ufffd(']);
  });

  it('may be compressed with gzip, and the limit applies to their decompressed size', async () => {
    const headers = { 'content-encoding': 'gzip' };
    expect((await send(gzipSync(JSON.stringify(createSystemBody())), headers)).status).toBe(201);
    const bomb = gzipSync(Buffer.alloc(50 * MEGABYTE, ' '), { level: 9 });
    expect(bomb.length).toBeLessThan(LIMIT);
    const before = process.memoryUsage().rss;
    const responses = await Promise.all(Array.from({ length: 20 }, () => send(bomb, headers)));
    responses.forEach((response) => expectRefused(response, 'Request body is too large.'));
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MEGABYTE);
    expectRefused(await send(randomBytes(200), headers), 'Request body could not be read.');
    expectRefused(
      await send('x', { 'content-encoding': 'compress' }),
      'Content-Encoding of the request is not supported.',
    );
  });

  it.each([
    ['at the top', '{"__proto__":{"isAdmin":true},', '__proto__'],
    ['escaped', '{"__pro\\u0074o__":{"isAdmin":true},', '__proto__'],
    ['below', '{"x":{"__proto__":1},', 'x.__proto__'],
  ])('with a key that would change a prototype are refused by name: %s', async (_, start, field) => {
    const rawBody = start + JSON.stringify(createSystemBody()).slice(1);
    const response = await send(rawBody);
    expectRefused(response, 'Request validation failed.');
    expect(response.body['details']).toBe(`${field}: is not a known field`);
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });

  it.each(['constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'])(
    'with the unknown field %s are refused by name',
    async (name) => {
      const response = await send(JSON.stringify(createSystemBody({ [name]: { prototype: { x: 1 } } })));
      expectRefused(response, 'Request validation failed.');
      expect(response.body['details']).toBe(`${name}: is not a known field`);
    },
  );

  it.each(
    DEPTHS.flatMap(
      (depth) =>
        [
          [depth, '[', ']'],
          [depth, '{"a":', '}'],
        ] as const,
    ),
  )('nested %i deep in %s are answered 400, not 500', async (depth, open, close) => {
    const nest = `${open.repeat(depth)}1${close.repeat(depth)}`.slice(0, LIMIT - 200);
    const whole = nest.endsWith(close) ? nest : '1';
    for (const path of ['unknown', 'payload', 'action', 'resourceName']) {
      const body = JSON.stringify(createSystemBody({ [path]: 'NEST' })).replace('"NEST"', whole);
      expect((await send(body)).status).toBe(400);
    }
    const inside = JSON.stringify(createSystemBody({ payload: { authorization: 'NEST' } }));
    expect((await send(inside.replace('"NEST"', whole))).status).toBe(400);
  });

  it('with a duplicate key use its last value, which is validated like any other', async () => {
    const text = JSON.stringify(createSystemBody({ resourceName: 'not allowed!' }));
    expect((await send(text.replace('{', '{"resourceName":"fine",'))).status).toBe(400);
    const good = JSON.stringify(createSystemBody());
    expect((await send(good.replace('{', '{"resourceName":"not allowed!",'))).status).toBe(201);
  });

  it.each(['1e999', '-1e999', '123456789012345678901234567890', '1.7976931348623159e308', '-0', '0.1e-400'])(
    'with the number %s in place of a text are refused',
    async (number) => {
      const text = JSON.stringify(createSystemBody({ payload: { name: 'NUMBER' } })).replace(
        '"NUMBER"',
        number,
      );
      expect((await send(text)).status).toBe(400);
    },
  );

  it.each(['\\ud800', '\\udc00x', 'a\\ud83d', '\\u0000', 'a\\u0008b'])(
    'with text that cannot be stored unchanged are refused: %s',
    async (escaped) => {
      const text = JSON.stringify(createSystemBody({ payload: { name: 'TEXT' } })).replace('TEXT', escaped);
      const response = await send(text);
      expectRefused(response, 'Request validation failed.');
      expect(response.body['details']).toMatch(/^payload\.name: /);
    },
  );

  it('keep every character that may be stored', async () => {
    const name = 'Größe 🎉 ∀ العربية \u{10ffff}';
    const created = await send(JSON.stringify(createSystemBody({ payload: { name } })));
    const read = await app.request('GET', detailsPath(String(created.body['resourceId'])));
    expect([created.body['name'], read.body['name']]).toEqual([name, name]);
  });
});

function expectRefused(response: TestResponse, message: string): void {
  expect([response.status, response.body['error']]).toEqual([400, 'Bad Request']);
  expect(response.body['message']).toBe(message);
}

/** Returns a valid body of this many bytes. */
function bodyOf(length: number): string {
  const text = JSON.stringify(createSystemBody());
  return text + ' '.repeat(length - text.length);
}
