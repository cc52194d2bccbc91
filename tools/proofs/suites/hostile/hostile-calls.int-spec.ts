import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../../../test/support/app.js';
import { taskProcess, ui, userTask } from '../../../../test/support/runtime/process-files.js';
import { publish, type Published } from '../../../../test/support/runtime/publish.js';
import {
  execute,
  start,
  started,
  startPath,
  uiActionPath,
  type CallOptions,
} from '../../../../test/support/runtime/runtime-client.js';
import { countInstances, instanceRow } from '../../../../test/support/runtime/runtime-rows.js';

const KEYED = taskProcess(
  'keyed',
  userTask('a', { actions: [{ name: 'done', manual: true, keys: 'client.name, ["x.y"]' }] }),
  userTask('b'),
);
const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

/** Rejected bodies, with the expected message. */
const REJECTED: [name: string, rawBody: string, said: RegExp][] = [
  ['__proto__', '{"__proto__":{"admin":true}}', /validation failed/],
  ['an escaped __proto__ further down', '{"a":[{"\\u005f_proto__":1}]}', /validation failed/],
  ['constructor further down', '{"a":{"constructor":{"prototype":{}}}}', /validation failed/],
  ['66 levels', nested(66), /validation failed/],
  ['30,000 levels', nested(30_000), /not valid JSON|validation failed/],
  ['30,000 levels of lists', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, /not valid JSON|validation/],
  ['an infinite number', '{"a":1e999}', /validation failed/],
  ['an integer that would be rounded', '{"a":[{"b":3544790567247868102}]}', /validation failed/],
  ['a negative one just beyond the range', '{"a":-9007199254740992}', /validation failed/],
  ['more bytes than permitted', `{"a":"${'x'.repeat(1_100_000)}"}`, /too large/],
  ['more than one value', '{} {}', /not valid JSON/],
  ['a body that ends too early', '{"\u0000":1', /not valid JSON/],
];

/** Accepted bodies, with the data as stored. */
const ACCEPTED: [name: string, rawBody: string, data: Record<string, unknown>][] = [
  ['names with dots', '{"a.b":1,"a":{"b":2},"":3," ":4}', { 'a.b': 1, a: { b: 2 }, '': 3, ' ': 4 }],
  [
    'names of inherited object members',
    '{"toString":1,"hasOwnProperty":2}',
    { toString: 1, hasOwnProperty: 2 },
  ],
  ['names that differ by case and spaces', '{"Key":1,"key":2,"key ":3}', { Key: 1, key: 2, 'key ': 3 }],
  ['lone surrogates', '{"\\ud800":"\\udfff x"}', { '\ud800': '\udfff x' }],
  ['null characters and separators', '{"a\\u0000":"\\u0000\\u2028"}', { 'a\u0000': '\u0000\u2028' }],
  ['a character outside the Basic Multilingual Plane', '{"😀":"𠜎"}', { '😀': '𠜎' }],
  [
    'the largest integer that is exact',
    '{"a":[9007199254740991,-9007199254740991]}',
    { a: [2 ** 53 - 1, 1 - 2 ** 53] },
  ],
  ['a larger one as a text', '{"a":"3544790567247868102"}', { a: '3544790567247868102' }],
  [
    'the largest and the smallest number',
    '{"a":1.7976931348623157e308,"b":5e-324}',
    { a: Number.MAX_VALUE, b: 5e-324 },
  ],
  ['the last of equal names', '{"a":1,"a":2}', { a: 2 }],
  ['64 levels', `{"a":${nested(63)}}`, JSON.parse(`{"a":${nested(63)}}`) as Record<string, unknown>],
];

describe('hostile calls', () => {
  let app: TestApp;
  let published: Published;

  beforeAll(async () => {
    app = await TestApp.start({ JOBS_CONCURRENCY: '0' });
    published = await publish(app, { bpmn: [taskProcess('plain', userTask('a'), userTask('b')), KEYED] });
  });
  afterAll(() => app.close());

  const startRaw = (rawBody: string, options: CallOptions = {}) =>
    start(app, published, 'plain', undefined, { rawBody, ...options });

  it.each(REJECTED)('a start with %s is 400 and stores nothing', async (_name, rawBody, said) => {
    const before = await countInstances(app, published.appId);
    const { status, body } = await startRaw(rawBody, { key: 'hostile' });

    expect(status).toBe(400);
    expect(body.message).toMatch(said);
    expect(await countInstances(app, published.appId)).toBe(before);
  });

  it.each(REJECTED)('a UI action with %s is 400 and changes nothing', async (_name, rawBody, said) => {
    const { uuid: process, token } = await started(app, published, 'plain', { kept: 1 });
    const { status, body } = await execute(app, process, token.uuid, ui('a'), undefined, { rawBody });

    expect(status).toBe(400);
    expect(body.message).toMatch(said);
    expect(await instanceRow(app, process)).toMatchObject({ rev: 1, content: { data: { kept: 1 } } });
  });

  it('an integer beyond 2^53 - 1 is reported with its path and what to send instead', async () => {
    const { body } = await startRaw('{"order":{"lines":[1,3544790567247868102]}}');
    expect(body).toMatchObject({
      details:
        'order.lines.1: is a number too large to store exactly: integers go up to 2^53 - 1 (9007199254740991); send a larger one as a string',
    });
  });

  it.each(ACCEPTED)('a start keeps %s', async (name, rawBody, data) => {
    const first = await startRaw(rawBody, {
      key: `taken-${ACCEPTED.findIndex(([other]) => other === name)}`,
    });
    const again = await startRaw(rawBody, {
      key: `taken-${ACCEPTED.findIndex(([other]) => other === name)}`,
    });

    expect(first.status).toBe(200);
    expect(again.text).toBe(first.text);
    expect((await instanceRow(app, first.body.uuid)).content.data).toEqual(data);
  });

  it.each(ACCEPTED)('a UI action keeps %s, and the instance shows it', async (_name, rawBody, data) => {
    const { uuid: process, token } = await started(app, published, 'plain');
    const { status } = await execute(app, process, token.uuid, ui('a'), undefined, { rawBody, key: 'k' });
    const { body } = await app.request('GET', `/rtm/api/runtime/process-instance/${process}`);

    expect(status).toBe(200);
    expect(body['data']).toEqual(data);
  });

  it('bytes that are not valid UTF-8 are read as U+FFFD', async () => {
    const { status, body } = await app.request('POST', startPath(published, 'plain'), {
      rawBody: Buffer.from('7b2261223a22ff80227d', 'hex'),
      headers: { 'svc-platform': 'web' },
    });

    expect(status).toBe(200);
    expect((await instanceRow(app, String(body['uuid']))).content.data).toEqual({ a: '\ufffd\ufffd' });
  });

  it('a name with a dot is not a path into the keys of an action', async () => {
    const { uuid: process, token } = await started(app, published, 'keyed');
    const send = (body: object) => execute(app, process, token.uuid, ui('a', 'done'), body);
    const refused = await send({ 'client.name': 'no', client: { role: 'admin' }, x: { y: 2 } });
    const named = String(refused.body['details'])
      .split('; ')
      .map((part) => part.split(': ')[0]);

    expect(refused.status).toBe(400);
    expect(named).toEqual(expect.arrayContaining(['["client.name"]', 'client.role', 'x']));
    expect((await send({ client: { name: 'yes' }, 'x.y': 1 })).status).toBe(200);
    expect((await instanceRow(app, process)).content.data).toEqual({ client: { name: 'yes' }, 'x.y': 1 });
  });

  it('keys are case-sensitive, and surrounding spaces are ignored', async () => {
    const uuids = await Promise.all(
      ['Some-Key', 'some-key', 'some-key ', ' some-key\t'].map(async (key) => {
        const { status, body } = await start(app, published, 'plain', {}, { key });
        expect(status).toBe(200);
        return body.uuid;
      }),
    );

    expect(new Set(uuids).size).toBe(2);
    expect(uuids[1]).toBe(uuids[2]);
    expect(uuids[1]).toBe(uuids[3]);
  });

  it.each(['x'.repeat(256), 'x'.repeat(8_000), 'schlüssel', 'a\tb', ' '])(
    'a key such as %j is 400 for both calls',
    async (key) => {
      const { uuid: process, token } = await started(app, published, 'plain');
      const sent = Buffer.from(key).toString('latin1');

      expect((await start(app, published, 'plain', {}, { key: sent })).status).toBe(400);
      expect((await execute(app, process, token.uuid, ui('a'), {}, { key: sent })).status).toBe(400);
    },
  );

  it('a key may have 255 characters', async () => {
    const call = () => start(app, published, 'plain', {}, { key: '~'.repeat(255) });

    expect((await call()).text).toBe((await call()).text);
  });

  it.each([
    ['ä', 400],
    ['%C3%A4', 400],
    ['%E2%80%AEplain', 400],
    ['plain%00', 400],
    ['plain%20', 400],
    ['%ff', 400],
    ['%', 400],
    ['PLAIN', 404],
    ['__proto__', 404],
    ['constructor', 404],
    ['x'.repeat(64), 404],
    ['x'.repeat(65), 400],
  ])('%s in place of an identifier in a path is %i', async (segment, status) => {
    const { uuid: process, token } = await started(app, published, 'plain');
    const paths = [
      startPath(published, '*').replace('*', segment),
      startPath({ ...published, buildId: segment }, 'plain'),
      startPath({ ...published, appId: segment }, 'plain'),
      uiActionPath(segment, token.uuid, ui('a')),
      uiActionPath(process, segment, ui('a')),
      uiActionPath(process, token.uuid, segment),
    ];
    for (const path of paths) {
      const answer = await app.request('POST', path, { body: {}, headers: { 'svc-platform': 'web' } });
      expect({ path, status: answer.status }).toEqual({ path, status });
    }
  });

  it('UUIDs are case-sensitive', async () => {
    const { uuid: process, token } = await started(app, published, 'plain');
    const status = async (id: string, tokenId: string) => (await execute(app, id, tokenId, ui('a'))).status;

    expect(await status(process.toUpperCase(), token.uuid)).toBe(404);
    expect(await status(process, token.uuid.toUpperCase())).toBe(404);
    expect(await status(process, token.uuid)).toBe(200);
  });
});
