import type { IncomingMessage, ServerResponse } from 'node:http';
import { v7 as uuid } from 'uuid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi, onTestFinished } from 'vitest';
import { overrideLimits } from '../../support/limits/limits.js';
import { Database } from '../../../src/store/database.js';
import { BuildSystemEntity } from '../../../src/delivery/builds/storage/build.entity.js';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { SystemSecrets } from '../../../src/systems/secrets/system-secrets.js';
import {
  WorkflowCallEntity,
  WorkflowRunEntity,
} from '../../../src/runtime/calls/workflows/storage/workflow-run.entity.js';
import { WorkflowRunsService } from '../../../src/runtime/calls/workflows/runs/workflow-runs.service.js';
import { TestApp } from '../../support/app.js';
import { readBody, startHttpPeer, type Peer } from '../../support/peers/peer.js';
import { startTokenPeer, type TokenPeer } from '../../support/peers/token.peer.js';
import { publish, type Published, workflowOf } from '../../support/runtime/publish.js';
import { eventually } from '../../support/runtime/runtime-client.js';
import { failureOf, runWorkflow } from '../workflows/workflow-package.js';

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}
type Answer = (response: ServerResponse, seen: Seen) => void;

const json: Answer = (response) =>
  response.writeHead(200, { 'content-type': 'application/json', etag: '"1"', 'x-other': 'x' }).end('{"a":1}');
const status =
  (code: number): Answer =>
  (response) =>
    response.writeHead(code, { 'content-type': 'text/plain' }).end('foreign words');

let app: TestApp;
let peer: Peer;
let tokens: TokenPeer;
let answers: Answer[];
let seen: Seen[];

beforeAll(async () => {
  app = await TestApp.shared({
    'restLimits.retryDelayMs': '5',
    'restLimits.maxResponseBytes': '8192',
    'dataLimits.values': '1000',
    'restLimits.timeoutMs': '5000',
  });
  tokens = await startTokenPeer();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const call = { method, url, headers, body: await readBody(request) };
    seen.push(call);
    const [next = json] = answers.length > 1 ? answers.splice(0, 1) : answers;
    next(response, call);
  };
  peer = await startHttpPeer((request, response) => void serve(request, response), '/base/');
});
afterAll(async () => {
  await app.close();
  await peer.close();
  await tokens.close();
});
beforeEach(() => {
  answers = [json];
  seen = [];
});
afterEach(() => vi.restoreAllMocks());
afterEach(() => expect(JSON.stringify(seen)).not.toContain('foreign words'));

/** Publishes a build with one REST system and a workflow with one node that calls it. */
async function delivered(
  payload: Record<string, unknown>,
  node: Record<string, unknown> = {},
  system: Record<string, unknown> = {},
): Promise<Published> {
  const systems = [{ resourceName: 'Scores', type: 'REST', name: 'Scores', baseUrl: peer.url, ...system }];
  const call = {
    id: 'call',
    type: 'REST_ENDPOINT',
    responseKey: 'answer',
    payload: { system: { resourceName: 'Scores' }, method: 'GET', ...payload },
    ...node,
  };
  const workflow = workflowOf('flow', [call], { end: { outputBody: '${answer}' } });
  return publish(app, { package: { systems, workflows: [workflow] } });
}
const built = async (...members: Parameters<typeof delivered>) => (await delivered(...members)).buildId;
const run = (buildId: string, input = {}, runKey: string = uuid()) =>
  runWorkflow(app, buildId, 'flow', { input, runKey });
const callsOf = async (runKey: string) => {
  const { id } = await app.dataSource.getRepository(WorkflowRunEntity).findOneByOrFail({ runKey });
  return app.dataSource.getRepository(WorkflowCallEntity).findBy({ runId: id });
};
const calls = () => app.dataSource.getRepository(WorkflowCallEntity).find();

describe('a REST_ENDPOINT node', () => {
  it('calls the endpoint and stores body, status and known headers', async () => {
    const buildId = await built({
      path: '/customers/${id}',
      queryParameters: { q: '${name} & co', empty: '' },
      headers: { 'X-Trace': 'a-${id}' },
    });
    expect(await run(buildId, { id: 'a/b?c#d é', name: 'x=y' })).toEqual({
      data: { a: 1 },
      status: 200,
      headers: { 'content-type': 'application/json', etag: '"1"' },
    });
    expect(seen).toMatchObject([
      { method: 'GET', url: '/base/customers/a%2Fb%3Fc%23d%20%C3%A9?q=x%3Dy+%26+co&empty=', body: '' },
    ]);
    expect(seen[0]?.headers).toMatchObject({ 'x-trace': 'a-a/b?c#d é' });
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('sends the inputBody with %s', async (method) => {
    const buildId = await built({ method, path: '/items' }, { inputBody: '{ "n": ${n}, "s": "${s}" }' });
    await run(buildId, { n: 2, s: 'a"b' });
    expect(seen).toMatchObject([
      {
        method,
        url: '/base/items',
        headers: { 'content-type': 'application/json' },
        body: '{"n":2,"s":"a\\"b"}',
      },
    ]);
  });

  it.each<[string, Answer, unknown]>([
    ['text', (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('grüß'), 'grüß'],
    ['nothing', (response) => response.writeHead(204).end(), null],
  ])('accepts %s as a response body', async (_what, answer, data) => {
    answers = [answer];
    expect(await run(await built({}))).toMatchObject({ data });
  });

  it.each([
    ['a line break in a header', { headers: { 'X-A': '${v}' } }, { v: 'a\r\nX-B: c' }],
    ['an unresolved reference in the path', { path: '/items/${v}' }, {}],
    ['an empty value in the path', { path: '/items/${v}' }, { v: '' }],
    ['a value in the path that is null', { path: '/items/${v}' }, { v: null }],
    ['an unpaired surrogate in the path', { path: '/items/${v}' }, { v: 'a\ud83d' }],
    ['path traversal', { path: '/items/${v}/x' }, { v: '..' }],
    ['encoded path traversal', { path: '/items/${v}' }, { v: '../../admin' }],
    ['doubly encoded path traversal', { path: '/items/${v}' }, { v: '%2e%2e/admin' }],
    ['path traversal with backslashes', { path: '/items\\..\\..\\admin' }, {}],
    ['path traversal with encoded backslashes', { path: '/items/${v}' }, { v: '..\\..\\admin' }],
    ['path traversal with dots separated by a tab', { path: '/.\t./admin' }, {}],
    ['path traversal with encoded dots separated by a line break', { path: '/%2e\n%2E/admin' }, {}],
    ['a backslash in a path value', { path: '/items/${v}' }, { v: '\\\\evil.example/x' }],
    ['an already encoded backslash', { path: '/items/${v}' }, { v: 'a%255cb' }],
    ['a line break in a path value', { path: '/items/${v}' }, { v: 'a\r\nb' }],
    ['an already encoded tab', { path: '/items/${v}' }, { v: 'a%09b' }],
    ['a non-ASCII control character in the path', { path: '/items/${v}' }, { v: 'a\u0085b' }],
    ['a space in the path template', { path: '/items/a b' }, {}],
    ['path traversal with path parameters', { path: '/..;a=b/admin' }, {}],
  ])('rejects %s', async (_what, payload, input) => {
    expect(await failureOf(run(await built(payload), input))).toMatchObject({
      code: 'NODE_INPUT_INVALID',
      node: 'call',
    });
    expect(seen).toEqual([]);
  });

  it.each<[string, Answer, string]>([
    [
      'a response that exceeds the limit',
      (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(8_193)),
      'REST_RESPONSE_INVALID',
    ],
    [
      'invalid JSON',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'REST_RESPONSE_INVALID',
    ],
    [
      'JSON that is nested too deeply',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('['.repeat(1_000) + ']'.repeat(1_000)),
      'REST_RESPONSE_INVALID',
    ],
    [
      'a binary response',
      (response) => response.writeHead(200, { 'content-type': 'image/png' }).end('x'),
      'REST_RESPONSE_INVALID',
    ],
    ['an error status', status(404), 'REST_STATUS'],
  ])('fails on %s, without quoting the response', async (_what, answer, code) => {
    answers = [answer];
    const failure = await failureOf(run(await built({})));
    expect(failure).toMatchObject({ code, node: 'call' });
    expect(JSON.stringify(failure) + (failure as Error).message).not.toContain('foreign');
    expect(seen).toHaveLength(1);
  });

  it('reports the maximum size of a response', async () => {
    answers = [(response) => response.writeHead(200).end('x'.repeat(9_000))];
    expect(await failureOf(run(await built({})))).toMatchObject({
      message: expect.stringContaining('larger than 8192 bytes'),
    });
  });

  it('limits the number of values in a response', async () => {
    const listOf = (values: number): Answer => {
      const text = `[${Array.from({ length: values - 1 }, () => '[]').join(',')}]`;
      return (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    };
    answers = [listOf(1_001)];
    const buildId = await built({});
    expect(await failureOf(run(buildId))).toMatchObject({
      code: 'REST_RESPONSE_INVALID',
      message: expect.stringContaining('more than 1000 values'),
    });
    answers = [listOf(990)];
    expect(await run(buildId)).toMatchObject({ status: 200, data: { length: 989 } });
  });

  it('converts integers that would be rounded to strings', async () => {
    const text = '{"id":3544790567247868102,"ids":[-9007199254740993,9007199254740991],"rate":1.5e300}';
    answers = [(response) => response.writeHead(200, { 'content-type': 'application/json' }).end(text)];
    const ids = ['-9007199254740993', 9_007_199_254_740_991];
    expect(await run(await built({}))).toMatchObject({
      data: { id: '3544790567247868102', ids, rate: 1.5e300 },
    });
  });

  it('retries after a temporary error status if the method is idempotent', async () => {
    answers = [status(503), status(429), json];
    expect(await run(await built({}))).toMatchObject({ status: 200 });
    expect(seen).toHaveLength(3);
    answers = [status(503)];
    seen = [];
    const post = await built({ method: 'POST' }, { inputBody: '1' });
    expect(await failureOf(run(post))).toMatchObject({
      code: 'REST_STATUS',
      message: expect.stringContaining('503'),
    });
    expect(seen).toHaveLength(1);
  });

  it('stops retrying at the configured limit', async () => {
    answers = [status(503)];
    expect(await failureOf(run(await built({})))).toMatchObject({ code: 'REST_STATUS' });
    expect(seen).toHaveLength(3);
  });

  it('aborts a call after its timeout', async () => {
    answers = [() => undefined];
    const buildId = await built({ timeoutSeconds: 1, method: 'POST' }, { inputBody: '1' });
    expect(await failureOf(run(buildId))).toMatchObject({
      code: 'REST_CALL_FAILED',
      message: expect.stringContaining('timeout'),
    });
  });

  it('does not call a forbidden address', async () => {
    const buildId = await built({}, {}, { baseUrl: 'http://169.254.1.1/' });
    expect(await failureOf(run(buildId))).toMatchObject({
      code: 'REST_CALL_FAILED',
      message: expect.stringContaining('It was not sent'),
    });
  });

  it('does not repeat a completed call when its run restarts', async () => {
    const buildId = await built({ method: 'POST' }, { inputBody: '{ "secret": 1 }' });
    const runKey = uuid();
    const first = await run(buildId, {}, runKey);
    expect(await run(buildId, {}, runKey)).toEqual(first);
    expect(seen).toHaveLength(1);
    const kept = (await calls()).at(-1);
    expect(kept).toMatchObject({ state: 'DONE', kind: 'REST' });
  });

  it('may repeat a call after a response that means nothing was done', async () => {
    const buildId = await built({ method: 'POST' }, { inputBody: '1' });
    const runKey = uuid();
    answers = [status(422)];
    await failureOf(run(buildId, {}, runKey));
    answers = [json];
    expect(await run(buildId, {}, runKey)).toMatchObject({ status: 200 });
  });

  it.each<[string, Answer, string]>([
    ['a lost connection', (response) => response.destroy(), 'REST_CALL_FAILED'],
    ['a server error', status(500), 'REST_STATUS'],
    [
      'an unreadable response',
      (response) => response.writeHead(200).end('\xff', 'latin1'),
      'REST_RESPONSE_INVALID',
    ],
  ])('repeats a call after %s only once, and only if a user requests it', async (_what, answer, code) => {
    const buildId = await built({ method: 'POST' }, { inputBody: '1' });
    const runKey = uuid();
    answers = [answer];
    expect(await failureOf(run(buildId, {}, runKey))).toMatchObject({ code });
    expect(await callsOf(runKey)).toMatchObject([{ state: 'UNKNOWN', outcome: code }]);
    answers = [json];
    expect(await failureOf(run(buildId, {}, runKey))).toMatchObject({ code: 'CALL_OUTCOME_UNKNOWN' });
    expect(seen).toHaveLength(1);
    await app.nest
      .get(Database)
      .write((manager) => app.nest.get(WorkflowRunsService).release(manager, runKey, 0));
    expect(await run(buildId, {}, runKey)).toMatchObject({ status: 200 });
  });

  it('records the failure of a call that may be repeated', async () => {
    const buildId = await built({});
    const runKey = uuid();
    answers = [status(500)];
    expect(await failureOf(run(buildId, {}, runKey))).toMatchObject({ code: 'REST_STATUS' });
    expect(await callsOf(runKey)).toMatchObject([{ state: 'FAILED', outcome: 'REST_STATUS' }]);
    answers = [json];
    expect(await run(buildId, {}, runKey)).toMatchObject({ status: 200 });
  });

  it('reports why the run was stopped between two attempts', async () => {
    onTestFinished(overrideLimits({ 'restLimits.retryDelayMs': '60000' }));
    const stop = new AbortController();
    answers = [
      (response, call) => {
        setTimeout(() => stop.abort(new Error('stopped')), 300);
        status(503)(response, call);
      },
    ];
    const work = runWorkflow(app, await built({}), 'flow', { signal: stop.signal });
    expect(await failureOf(work)).toMatchObject({ message: 'stopped' });
    expect(seen).toHaveLength(1);
  });

  it('aborts the call when the run is stopped', async () => {
    answers = [() => stop.abort(new Error('stopped'))];
    const stop = new AbortController();
    const work = runWorkflow(app, await built({}), 'flow', { signal: stop.signal });
    expect(await failureOf(work)).toMatchObject({ message: 'stopped' });
  });
});

describe('credentials in the definition of a REST_ENDPOINT node', () => {
  const encodings: [string, (text: string) => string][] = [
    ['unchanged', (text) => text],
    ['percent-encoded', (text) => encodeURIComponent(text)],
    ['in hexadecimal', (text) => Buffer.from(text).toString('hex')],
    ['in base64', (text) => Buffer.from(`${text}.`).toString('base64')],
    ['in base64url', (text) => Buffer.from(`${text}.`).toString('base64url')],
  ];
  const echo: Answer = (response, { headers, url }) => {
    const query = [...new URL(url, 'http://peer').searchParams];
    const values = [...Object.values(headers).map(String), ...query.map(([, value]) => value)];
    const forms = encodings.map(([, encode]) => values.map(encode));
    const body = { headers, url, forms, kept: 'customer-name' };
    response
      .writeHead(200, {
        'content-type': 'application/json',
        location: `/next${url.slice(5)}`,
        etag: values.join(),
      })
      .end(JSON.stringify(body));
  };
  const node = {
    headers: {
      'X-Api-Key': 'CANARY+key/${n}',
      'X-Caller': 'Bearer CANARY-caller',
      'X-Trace': 'customer-name',
    },
    queryParameters: { access_token: 'CANARY token=', pageToken: 'customer-name' },
  };
  const canaries = ['CANARY+key/1', 'CANARY-caller', 'CANARY token='].flatMap((text) =>
    encodings.map(([, encode]) => encode(text.slice(0, -2)).replace(/.{0,2}=*$/, '')),
  );

  it('are removed from body and headers of the response, and from the journal', async () => {
    answers = [echo];
    const buildId = await built(node);
    const runKey = uuid();
    const answer = await run(buildId, { n: 1 }, runKey);
    expect(seen[0]?.headers).toMatchObject({ 'x-api-key': 'CANARY+key/1' });
    expect(answer).toMatchObject({
      data: {
        headers: { 'x-api-key': '[removed]', 'x-caller': '[removed]', 'x-trace': 'customer-name' },
        kept: 'customer-name',
      },
      headers: {
        location: expect.stringMatching(/^\/next.*access_token=\[removed\]&pageToken=customer-name$/),
      },
    });
    const shown = JSON.stringify([answer, await callsOf(runKey)]);
    expect(canaries.filter((canary) => shown.includes(canary))).toEqual([]);
  });

  it('are removed from the details of a test run', async () => {
    answers = [echo];
    const { appId, buildId } = await delivered(node);
    const path = `/rtm/api/runtime/app/${appId}/build/${buildId}/workflow/flow/test-run`;
    const started = await app.request<{ workflowRunId: string }>('POST', path, { body: { n: 1 } });
    const runPath = `/rtm/api/runtime/workflow-run/${started.body.workflowRunId}`;
    const { body: details } = await eventually(
      () => app.request<{ state: string }>('GET', runPath),
      ({ body }) => body.state !== 'STARTED',
    );
    const shown = JSON.stringify([details, (await app.request('GET', `${runPath}/calls`)).body]);
    expect(details).toMatchObject({ state: 'FINISHED' });
    expect(shown.split('customer-name').length).toBeGreaterThan(5);
    expect(canaries.filter((canary) => shown.includes(canary))).toEqual([]);
  });

  it('are removed from the journal even if path and body contain them', async () => {
    const headers = { 'X-Auth-Token': '${t}' };
    const runKey = uuid();
    const posted = await built(
      { method: 'POST', path: '/of/${t}', headers },
      { inputBody: '{ "again": "${t}", "kept": "customer-name" }' },
    );
    await run(posted, { t: 'CANARY-caller' }, runKey);
    expect(seen[0]).toMatchObject({ url: '/base/of/CANARY-caller', body: expect.stringContaining('CANARY') });
    const journal = JSON.stringify(await callsOf(runKey));
    expect([journal.includes('customer-name'), journal.includes('CANARY')]).toEqual([true, false]);
  });

  it('are not in the error of a failed call', async () => {
    answers = [
      (response, { headers, url }) =>
        response.writeHead(422, { 'x-why': url }).end(JSON.stringify({ headers, url })),
    ];
    const runKey = uuid();
    const failure = (await failureOf(run(await built(node), { n: 1 }, runKey))) as Error;
    expect(failure).toMatchObject({ code: 'REST_STATUS' });
    expect(JSON.stringify([failure, failure.message, await callsOf(runKey)])).not.toContain('CANARY');
  });

  it('are rejected if there are too many of them to search a response for', async () => {
    const headers = { 'X-Api-Token': '${all}' };
    const all = Array.from({ length: 60 }, (_, index) => `secret${index}`).join(';');
    expect(await failureOf(run(await built({ headers }), { all }))).toMatchObject({
      code: 'NODE_INPUT_INVALID',
    });
    expect(seen).toEqual([]);
  });
});

describe('a REST_ENDPOINT node of a system with a service account', () => {
  const account =
    (clientSecret = 'secret') =>
    async () => {
      const authorization = {
        type: 'SERVICE_ACCOUNT',
        configuration: {
          clientId: 'client',
          identityProviderUrl: tokens.url,
          scope: 'stock.read',
          tokenParameters: { audience: 'https://stock' },
        },
      };
      const buildId = await built({}, {}, { authorization });
      const { systemId } = await app.dataSource.getRepository(BuildSystemEntity).findOneByOrFail({ buildId });
      const system = await app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id: systemId });
      const sealed = app.nest.get(SystemSecrets).seal(system, clientSecret);
      await app.dataSource.getRepository(SystemEntity).update({ id: systemId }, { clientSecret: sealed });
      return buildId;
    };

  it('sends a token, and gets a new one if the system rejects it', async () => {
    const buildId = await account()();
    await run(buildId);
    expect(seen[0]?.headers.authorization).toMatch(/^Bearer token-\d+$/);
    expect(tokens.requests.at(-1)).toMatchObject({ scope: 'stock.read', audience: 'https://stock' });
    answers = [status(401), json];
    await run(buildId);
    const [, refused, accepted] = seen.map(({ headers }) => headers.authorization);
    expect(refused).toBe(seen[0]?.headers.authorization);
    expect(accepted).not.toBe(refused);
    expect(JSON.stringify(await calls())).not.toMatch(/token-\d|Bearer|"secret"/);
  });

  it('removes the secrets that it sent from the response, in any encoding', async () => {
    const secret = 'CANARY-secret/+ 1';
    Object.assign(tokens.script, { tokenPrefix: 'CANARY~token~', clientSecret: secret });
    const buildId = await account(secret)();
    const basic = Buffer.from(`client:${new URLSearchParams({ v: secret }).toString().slice(2)}`);
    const forms = (token: string) =>
      [token, secret, basic.toString('base64'), `Bearer ${token}`, `client:${secret}`].flatMap((text) => [
        text,
        encodeURIComponent(text),
        JSON.stringify({ text }),
        Buffer.from(text).toString('hex'),
        Buffer.from(text).toString('base64'),
        Buffer.from(`${text}.`).toString('base64url'),
      ]);
    const canaries = [...forms('CANARY~token~'), 'ANARY', Buffer.from('ANARY').toString('hex')];
    answers = [
      (response, { headers }) => {
        const token = String(headers.authorization).replace('Bearer ', '');
        const echo = {
          headers,
          forms: forms(token),
          [token]: { [encodeURIComponent(secret)]: 1 },
          kept: 'as it is',
        };
        response
          .writeHead(200, { 'content-type': 'application/json', location: `/?t=${token}` })
          .end(JSON.stringify(echo));
      },
    ];
    const answer = await run(buildId);
    expect(answer).toMatchObject({
      data: {
        headers: { authorization: 'Bearer [removed]' },
        '[removed]': { '[removed]': 1 },
        kept: 'as it is',
      },
      headers: { location: '/?t=[removed]' },
    });
    const shown = JSON.stringify([answer, await calls()]);
    expect(canaries.filter((canary) => shown.includes(canary))).toEqual([]);
    Object.assign(tokens.script, { tokenPrefix: 'token-', clientSecret: 'secret' });
  });

  it('sends an API key instead of the header of the node, and removes it from the response', async () => {
    const authorization = { type: 'API_KEY', configuration: { headerName: 'X-Api-Key' } };
    const buildId = await built({ headers: { 'x-api-key': 'of the node' } }, {}, { authorization });
    expect(await failureOf(run(buildId))).toMatchObject({ code: 'REST_CALL_FAILED' });
    expect(seen).toEqual([]);
    // Nothing was sent, so a retry may make the call once the key is set.
    const notMade = { state: 'FAILED', outcome: 'NOT_MADE' };
    expect(await calls()).toContainEqual(expect.objectContaining(notMade));
    const { systemId } = await app.dataSource.getRepository(BuildSystemEntity).findOneByOrFail({ buildId });
    const system = await app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id: systemId });
    const sealed = app.nest.get(SystemSecrets).seal(system, 'CANARY-key/+ 1');
    await app.dataSource.getRepository(SystemEntity).update({ id: systemId }, { clientSecret: sealed });
    answers = [
      (response, { headers }) => {
        const key = String(headers['x-api-key']);
        const echo = { headers, hex: Buffer.from(key).toString('hex'), [encodeURIComponent(key)]: 'kept' };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(echo));
      },
      status(401),
    ];
    const answer = await run(buildId);
    expect(seen[0]?.headers['x-api-key']).toBe('CANARY-key/+ 1');
    expect(answer).toMatchObject({
      data: { headers: { 'x-api-key': '[removed]' }, hex: '[removed]', '[removed]': 'kept' },
    });
    expect(JSON.stringify([answer, await calls()])).not.toContain('CANARY');
    expect(await failureOf(run(buildId))).toMatchObject({ code: 'REST_STATUS' });
    expect(seen).toHaveLength(2);
  });

  it.each<[string, Record<string, unknown>]>([
    ['base URL', { baseUrl: 'http://127.0.0.1:9/' }],
    ['token endpoint', { identityProviderUrl: 'http://127.0.0.1:9/token' }],
    ['client id', { clientId: 'another' }],
    ['authorization type', { authorizationType: 'NO_AUTH' }],
  ])('sends its secret to no address after the %s was changed in the database', async (_what, columns) => {
    const buildId = await account()();
    const { systemId } = await app.dataSource.getRepository(BuildSystemEntity).findOneByOrFail({ buildId });
    const change = (values: object) => app.dataSource.getRepository(SystemEntity).update(systemId, values);
    const before = await app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id: systemId });
    await change(columns);
    const requests = tokens.requests.length;
    const failure = await failureOf(run(buildId));
    expect(`${JSON.stringify(failure)} ${(failure as Error).message}`).not.toMatch(/secret"|svc2/);
    expect([seen, tokens.requests.length]).toEqual([[], requests]);
    await change(Object.fromEntries(Object.keys(columns).map((name) => [name, before[name as 'baseUrl']])));
    expect(await run(buildId)).toMatchObject({ status: 200 });
  });

  it('does not call a system after the build was changed in the database', async () => {
    const buildId = await account()();
    expect(await run(buildId)).toMatchObject({ status: 200 });
    expect(seen[0]?.headers.authorization).toMatch(/^Bearer token-\d+$/);
    const builds = app.dataSource.getRepository(BuildSystemEntity);
    const elsewhere = { baseUrl: 'http://127.0.0.1:9/', identityProviderUrl: 'http://127.0.0.1:9/token' };
    await builds.update({ buildId }, { ...elsewhere, clientId: 'another', authorizationType: null });
    expect(await failureOf(run(buildId))).toMatchObject({ code: 'BUILD_DAMAGED' });
    expect(seen).toHaveLength(1);
  });

  it('fails without sending a request if it gets no token', async () => {
    const buildId = await account('wrong')();
    expect(await failureOf(run(buildId))).toMatchObject({
      code: 'REST_CALL_FAILED',
      message: expect.stringMatching(/[Nn]o access token .*rejected the client id or the client secret/),
    });
    expect(seen).toEqual([]);
  });
});
