import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestApp } from '../../support/app.js';
import { detailsPath, systemPath, toolPath } from '../../support/factories.js';
import {
  createSystem,
  readSystem,
  startToolServices,
  testConnection,
  type SystemBody,
  type ToolServices,
} from './tool-support.js';

interface Definition {
  title: string | null;
  description: string;
  annotations: Record<string, unknown> | null;
  inputSchema: Record<string, unknown>;
  definitionHash: string;
}

interface Review {
  toolId: string;
  name: string;
  enabled: boolean;
  found: string;
  foundAt: string;
  definition: Definition;
  decided: {
    enabled: boolean;
    decidedBy: { userName: string } | null;
    decidedAt: string;
    definition: Definition;
  } | null;
}

interface Reviews {
  systemTag: string;
  reviews: Review[];
  next: string | null;
}

describe('GET …/rt/system/ri/{systemResourceId}/integration/api/systems/tool-reviews', () => {
  let services: ToolServices;
  let app: TestApp;
  let system: SystemBody;
  let listed: Record<string, unknown>[];
  let versions = 0;

  beforeAll(async () => {
    services = await startToolServices(() => listed);
    app = services.app;
  });
  afterAll(() => services.close());
  beforeEach(async () => {
    listed = [tool('orders', 'one')];
    system = await systemWithTools();
  });

  function tool(name: string, description: string, more: Record<string, unknown> = {}) {
    return { name, description, inputSchema: { type: 'object' }, ...more };
  }
  /** Creates a system in a new version and tests its connection once. */
  async function systemWithTools(by = app): Promise<SystemBody> {
    versions += 1;
    const { resourceId } = await createSystem(by, place());
    await testConnection(by, place());
    return readSystem(by, resourceId, place().versionId);
  }
  const place = () => ({ baseUrl: services.server.url, versionId: `r${versions}` });
  const listNow = async (tools: Record<string, unknown>[], by = app): Promise<void> => {
    listed = tools;
    expect((await testConnection(by, place())).body.status).toBe(200);
  };
  const pathOf = (query = '') =>
    `${systemPath(system.resourceId, 'app', place().versionId)}/tool-reviews${query}`;
  const read = async (query = ''): Promise<Reviews> => {
    const { status, body } = await app.request<Reviews>('GET', pathOf(query));
    expect(status).toBe(200);
    return body;
  };
  const only = async (): Promise<Review> => {
    const [review] = (await read()).reviews;
    return review!;
  };
  const decide = (toolId: string, enabled: boolean, headers: Record<string, string> = {}) =>
    app.request(
      'PATCH',
      toolPath({ resourceId: system.resourceId, systemId: system.id, toolId }, 'app', place().versionId),
      { body: { enabled }, headers },
    );

  it('returns a new tool with its definition and the tag for a decision, until a user decides', async () => {
    const { systemTag, reviews, next } = await read();
    expect(next).toBeNull();
    expect(reviews).toEqual([
      {
        toolId: system.tools[0]!.id,
        name: 'orders',
        enabled: true,
        found: 'NEW',
        foundAt: expect.any(String),
        definition: {
          title: null,
          description: 'one',
          inputSchema: { type: 'object' },
          outputSchema: null,
          annotations: null,
          definitionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        decided: null,
      },
    ]);
    expect((await decide(system.tools[0]!.id, true, { 'If-Match': systemTag })).status).toBe(200);
    expect((await read()).reviews).toEqual([]);
  });

  it('compares with the definition of the last decision, even after several changes', async () => {
    await decide(system.tools[0]!.id, true);
    const long = Object.fromEntries(
      Array.from({ length: 80 }, (_, index) => [`p${index}`, { description: 'x'.repeat(600) }]),
    );
    await listNow([tool('orders', 'two', { inputSchema: { type: 'object', properties: long } })]);
    await listNow([tool('orders', 'three', { title: 'Orders', annotations: { readOnlyHint: true } })]);
    expect(await only()).toMatchObject({
      enabled: false,
      found: 'CHANGED',
      definition: { description: 'three', title: 'Orders', annotations: { readOnlyHint: true } },
      decided: {
        enabled: true,
        decidedBy: { userName: expect.any(String) },
        definition: { description: 'one', title: null, annotations: null, inputSchema: { type: 'object' } },
      },
    });
  });

  it('starts over with each decision, and compares with the automatically enabled definition before the first', async () => {
    const id = system.tools[0]!.id;
    await listNow([tool('orders', 'two')]);
    expect(await only()).toMatchObject({
      decided: { enabled: true, decidedBy: null, definition: { description: 'one' } },
    });
    await decide(id, false);
    expect((await read()).reviews).toEqual([]);
    await listNow([tool('orders', 'three')]);
    await listNow([tool('orders', 'four')]);
    expect(await only()).toMatchObject({
      definition: { description: 'four' },
      decided: { enabled: false, definition: { description: 'two' } },
    });
    await listNow([tool('orders', 'two')]);
    const { definition, decided } = await only();
    expect(definition).toEqual(decided?.definition);
  });

  it('has nothing to compare with if no user decided and the tool was never enabled', async () => {
    await listNow([tool('orders', 'one'), tool('pay', 'first')]);
    expect((await read()).reviews[1]).toMatchObject({ name: 'pay', found: 'NEW', enabled: false });
    await listNow([tool('orders', 'one'), tool('pay', 'second')]);
    expect((await read()).reviews[1]).toMatchObject({
      name: 'pay',
      found: 'CHANGED',
      definition: { description: 'second' },
      decided: null,
    });
  });

  it("keeps the definition of a user's decision if changed tools stay enabled", async () => {
    await decide(system.tools[0]!.id, true);
    await listNow([tool('orders', 'two')], services.accepting);
    await listNow([tool('orders', 'three')], services.accepting);
    expect(await only()).toMatchObject({
      enabled: true,
      definition: { description: 'three' },
      decided: { enabled: true, definition: { description: 'one' } },
    });
  });

  it('omits removed tools, and is deleted with the system', async () => {
    await listNow([tool('orders', 'two')]);
    await listNow([]);
    expect((await read()).reviews).toEqual([]);
    await listNow([tool('orders', 'two')]);
    expect(await only()).toMatchObject({ decided: { definition: { description: 'one' } } });
    await app.request('DELETE', systemPath(system.resourceId, 'app', place().versionId));
    const rows = await app.dataSource.query('SELECT tool_id FROM reviewed_tools WHERE system_id = ?', [
      system.id,
    ]);
    expect(rows).toEqual([]);
  });

  it('returns pages', async () => {
    await listNow(['a', 'b', 'c'].map((name) => tool(name, name)));
    const first = await read('?limit=2');
    const second = await read(`?limit=2&after=${first.next}`);
    expect([...first.reviews, ...second.reviews].map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(second.next).toBeNull();
  });

  it('rejects a decision with an outdated tag, even if only annotations changed', async () => {
    const { systemTag } = await read();
    await listNow([tool('orders', 'one', { annotations: { destructiveHint: true } })]);
    expect((await decide(system.tools[0]!.id, true, { 'If-Match': systemTag })).status).toBe(412);
  });

  it('returns the new tag after a decision only if the request had If-Match', async () => {
    const id = system.tools[0]!.id;
    const { systemTag } = await read();
    const first = await decide(id, false, { 'If-Match': systemTag });
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toBe((await read()).systemTag);
    expect(tag).not.toBe(systemTag);
    expect((await decide(id, true, { 'If-Match': tag })).status).toBe(200);
    expect((await decide(id, true, { 'If-Match': systemTag })).status).toBe(412);
    expect((await decide(id, false)).headers.get('etag')).toBeNull();
  });

  it('rejects a decision after an unseen one, even if that did not change the flag', async () => {
    const id = system.tools[0]!.id;
    await listNow([tool('orders', 'two')]);
    const { systemTag } = await read();
    const details = detailsPath(system.resourceId, 'app', place().versionId);
    const known = { headers: { 'if-none-match': systemTag } };
    expect((await app.request('GET', details, known)).status).toBe(304);

    expect((await decide(id, false, { 'If-Match': systemTag })).status).toBe(200);
    const after = await app.request('GET', details, known);
    expect(after.status).toBe(200);
    expect(after.headers.get('etag')).toBe((await read()).systemTag);
    expect((await decide(id, true, { 'If-Match': systemTag })).status).toBe(412);
    expect((await readSystem(app, system.resourceId, place().versionId)).tools[0]).toMatchObject({
      enabled: false,
    });
  });

  it('rejects invalid queries, unknown systems and unauthorized callers', async () => {
    for (const query of ['?limit=0', '?limit=51', '?after=x', '?before=x']) {
      expect((await app.request('GET', pathOf(query))).status).toBe(400);
    }
    expect(await app.request('GET', `${systemPath('none')}/tool-reviews`)).toMatchObject({
      status: 404,
      body: { message: 'System not found.' },
    });
    const token = await app.tokenWith({ scope: 'openid' });
    expect(await app.request('GET', pathOf(), { token })).toMatchObject({
      status: 403,
      body: { message: 'Insufficient permissions to access Integration Management' },
    });
    expect((await app.request('GET', pathOf(), { token: null })).status).toBe(401);
  });
});
