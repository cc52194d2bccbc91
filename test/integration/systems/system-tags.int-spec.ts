import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ToolEntity } from '../../../src/systems/tools/storage/tool.entity.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { connectionTestPath, detailsPath, systemPath, toolPath } from '../../support/factories.js';
import { sendResult, startScriptedMcp, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import { commitVersion, createdSystem, newPlace, type Place, type SystemBody } from './rows.js';

const schema = { type: 'object' };
const LISTED = [
  { name: 'first', description: 'One', inputSchema: schema },
  { name: 'second', description: 'Two', inputSchema: schema },
];

describe('GET …/systems/getById with If-None-Match', () => {
  let app: TestApp;
  let place: Place;
  let server: ScriptedMcpPeer;
  let listed: object[];

  beforeAll(async () => {
    app = await TestApp.start({ TOOL_CHANGE_POLICY: 'accept' });
    server = await startScriptedMcp({
      list: ({ id, response }) => sendResult(response, id, { tools: listed }),
    });
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });
  beforeEach(() => {
    place = newPlace();
    listed = LISTED;
  });

  const pathOf = ({ resourceId }: SystemBody) => detailsPath(resourceId, place.appId, place.versionId);
  const get = (system: SystemBody, tags?: string, headers = { 'cache-control': 'max-age=0' }) =>
    app.request<SystemBody>('GET', pathOf(system), {
      headers: tags === undefined ? {} : { 'if-none-match': tags, ...headers },
    });
  const tagOf = ({ headers }: TestResponse<unknown>) => headers.get('etag') ?? '';
  const synchronise = async () => {
    const { appId, versionId } = place;
    const body = { baseUrl: server.url, authorization: { type: 'NO_AUTH' } };
    const { status, text } = await app.request('PATCH', connectionTestPath(appId, versionId), { body });
    expect(status, text).toBe(200);
  };
  const withTools = async (): Promise<SystemBody> => {
    const system = await createdSystem(app, place, { payload: { baseUrl: server.url } });
    await synchronise();
    return (await get(system)).body;
  };
  const enable = (system: SystemBody, enabled: boolean) =>
    app.request(
      'PATCH',
      toolPath(
        { resourceId: system.resourceId, systemId: system.id, toolId: String(system.tools[0]?.['id']) },
        place.appId,
        place.versionId,
      ),
      { body: { enabled } },
    );

  it('answers 304 with the same headers as 200 and no body if nothing has changed', async () => {
    const system = await withTools();
    const shown = await get(system);
    const tag = tagOf(shown);
    expect(tag).toMatch(/^W\/"[\w-]{43}"$/);
    expect(tagOf(await get(system))).toBe(tag);

    const unchanged = await get(system, tag);

    expect([unchanged.status, unchanged.text, tagOf(unchanged)]).toEqual([304, '', tag]);
    const own = new Set(['content-type', 'content-length', 'date', 'x-request-id']);
    const others = ({ headers }: TestResponse<unknown>) =>
      [...headers.entries()].filter(([name]) => !own.has(name));
    expect(others(unchanged)).toEqual(others(shown));
    expect(unchanged.headers.has('content-type')).toBe(false);
  });

  it('compares each tag in the header, with and without W/, and ignores `*`', async () => {
    const system = await withTools();
    const tag = tagOf(await get(system));
    for (const tags of [`"a", ${tag}`, `${tag}, W/"b"`, tag.slice('W/'.length)]) {
      expect((await get(system, tags)).status).toBe(304);
    }
    for (const tags of ['*', '"a"', 'W/""', tag.slice(0, -1), '']) {
      const { status, body } = await get(system, tags);
      expect(status).toBe(200);
      expect(body).toEqual(system);
    }
    // `fetch` adds this header, which is meant for caches only.
    expect((await get(system, tag, { 'cache-control': 'no-cache' })).status).toBe(304);
  });

  it('accepts a header of 8,192 characters and rejects longer ones', async () => {
    const system = await withTools();
    const tags = `"${'a'.repeat(8_190)}"`;

    expect((await get(system, tags)).status).toBe(200);
    const { status, body } = await get(system, `${tags},`);

    expect(status).toBe(400);
    expect(body).toMatchObject({ details: 'If-None-Match: must have at most 8192 characters' });
  });

  it('answers HEAD like GET, without a body', async () => {
    const system = await withTools();
    const authorization = `Bearer ${await app.tokenWith({})}`;
    const head = (headers: Record<string, string> = {}) =>
      fetch(`${app.url}${pathOf(system)}`, {
        method: 'HEAD',
        headers: { authorization, 'accept-encoding': 'identity', 'cache-control': 'max-age=0', ...headers },
      });

    const shown = await head();

    expect(shown.status).toBe(200);
    expect(shown.headers.get('content-length')).toBe(String(Buffer.byteLength(JSON.stringify(system))));
    expect((await head({ 'if-none-match': shown.headers.get('etag') ?? '' })).status).toBe(304);
  });

  it.each(['draft', 'committed'])(
    'never answers 304 after a tool of a %s version was switched',
    async (state) => {
      const system = await withTools();
      if (state === 'committed') {
        await commitVersion(app, place);
      }
      const enabled = tagOf(await get(system));

      expect((await enable(system, false)).status).toBe(200);
      const off = await get(system, enabled);
      expect(off.status).toBe(200);
      expect(off.body.tools[0]?.['enabled']).toBe(false);
      expect((await get(system, tagOf(off))).status).toBe(304);

      expect((await enable(system, true)).status).toBe(200);
      expect((await get(system, tagOf(off))).body.tools[0]?.['enabled']).toBe(true);
    },
  );

  it('detects a flag that was changed directly in the table, without its timestamp', async () => {
    const system = await withTools();
    const tag = tagOf(await get(system));
    await app.dataSource
      .getRepository(ToolEntity)
      .update({ id: String(system.tools[1]?.['id']) }, { enabled: false });
    expect((await get(system, tag)).body.tools[1]?.['enabled']).toBe(false);
  });

  it.each([
    ['was added', [...LISTED, { name: 'third', inputSchema: schema }]],
    ['is gone', LISTED.slice(1)],
    ['has another position', LISTED.toReversed()],
    ['has another description', [{ ...LISTED[0], description: 'Another' }, LISTED[1]]],
    ['has another schema', [{ ...LISTED[0], inputSchema: { type: 'object', required: ['a'] } }, LISTED[1]]],
    ['has an output schema', [{ ...LISTED[0], outputSchema: schema }, LISTED[1]]],
  ] as [string, object[]][])('returns another tag after a tool %s', async (_case, next) => {
    const system = await withTools();
    const tag = tagOf(await get(system));
    listed = next;
    await synchronise();

    const { status, body } = await get(system, tag);

    expect(status).toBe(200);
    expect(body.tools).not.toEqual(system.tools);
  });

  it.each([
    ['name', { name: 'Another name' }],
    ['description', { description: 'Another one' }],
    ['base URL', { baseUrl: 'https://elsewhere.example.com/mcp' }],
    ['authorization', { authorization: { type: 'API_KEY', configuration: { apiKey: 'k'.repeat(20) } } }],
  ])('returns another tag after the %s was changed', async (_case, change) => {
    const system = await withTools();
    const tag = tagOf(await get(system));
    const path = systemPath(system.resourceId, place.appId, place.versionId);
    const changed = await app.request('PATCH', path, { body: change });
    expect(changed.status, changed.text).toBe(200);

    const now = await get(system, tag);

    expect(now.status).toBe(200);
    expect(now.body).toEqual(changed.body);
  });

  it('returns another tag for a new system after one was deleted', async () => {
    const system = await withTools();
    const tag = tagOf(await get(system));
    const path = systemPath(system.resourceId, place.appId, place.versionId);
    expect((await app.request('DELETE', path)).status).toBe(200);
    expect((await get(system, tag)).status).toBe(404);
    expect(tagOf(await get(await createdSystem(app, place)))).not.toBe(tag);
  });

  it('checks token, permission and path before the tag', async () => {
    const system = await withTools();
    const headers = { 'if-none-match': tagOf(await get(system)), 'cache-control': 'max-age=0' };
    const statusOf = async (token: string | null, path = pathOf(system)) =>
      (await app.request('GET', path, { headers, token })).status;
    expect(await statusOf(null)).toBe(401);
    expect(await statusOf(await app.tokenWith({ scope: 'openid' }))).toBe(403);
    const known = await app.tokenWith({});
    expect(await statusOf(known, detailsPath(system.id, place.appId, place.versionId))).toBe(404);
    expect(await statusOf(known, detailsPath(system.resourceId, newPlace().appId, place.versionId))).toBe(
      404,
    );
    expect(await statusOf(known)).toBe(304);
  });
});
