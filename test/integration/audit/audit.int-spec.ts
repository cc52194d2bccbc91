import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, systemPath, toolPath, versionPath } from '../../support/factories.js';
import { neverAnswers } from '../../support/peers/pathologies.js';
import { startHttpPeer, type Peer } from '../../support/peers/peer.js';
import { sendResult, startScriptedMcp, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import { createSystem, readSystem, testConnection } from '../tools/tool-support.js';

interface AuditEvent {
  id: string;
  action: string;
  outcome: string;
  subject: string;
  issuer: string;
  requestId: string;
  systemResourceId: string | null;
  toolId: string | null;
  actor: Record<string, unknown>;
  details: Record<string, unknown> | null;
}

const auditPath = (versionId: string, query = ''): string =>
  `${versionPath('app', versionId)}/integration/api/systems/audit${query}`;

describe('GET /resource/app/{appId}/app-version/{versionId}/rt/system/integration/api/systems/audit', () => {
  let app: TestApp;
  let strict: TestApp;
  let server: ScriptedMcpPeer;
  let silent: Peer;
  let title: string | undefined;

  beforeAll(async () => {
    app = await TestApp.start({ 'mcpLimits.testTimeoutMs': '5000' });
    strict = await TestApp.start({ 'auditLimits.denialsPerMinute': '2' });
    server = await startScriptedMcp({
      list: ({ id, response }) =>
        sendResult(response, id, { tools: [{ name: 'echo', title, inputSchema: { type: 'object' } }] }),
    });
    silent = await startHttpPeer(neverAnswers);
  });
  afterAll(async () => {
    await Promise.all([app.close(), strict.close(), server.close(), silent.close()]);
  });

  const events = async (versionId: string, query = ''): Promise<AuditEvent[]> =>
    (await app.request<{ events: AuditEvent[] }>('GET', auditPath(versionId, query))).body.events;

  it('records who did what to which system and tool, in which request, newest first', async () => {
    const versionId = 'story';
    const { resourceId } = await createSystem(app, { baseUrl: server.url, versionId });
    await testConnection(app, { baseUrl: server.url, versionId });
    const system = await readSystem(app, resourceId, versionId);
    const tool = system.tools[0]!;
    const path = toolPath({ resourceId, systemId: system.id, toolId: tool.id }, 'app', versionId);
    await app.request('PATCH', path, {
      body: { enabled: false },
      headers: { 'x-request-id': 'switched-off-1' },
    });
    await app.request('PATCH', systemPath(resourceId, 'app', versionId), { body: { name: 'Renamed' } });
    await app.request('DELETE', systemPath(resourceId, 'app', versionId));

    const story = await events(versionId, `?systemResourceId=${resourceId}`);

    expect(story.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'system.delete ok',
      'system.update ok',
      'tool.switch ok',
      'tools.sync ok',
      'system.create ok',
    ]);
    expect(story[2]).toMatchObject({
      requestId: expect.stringMatching(/^[\da-f-]{36}$/) as string,
      callerRequestId: 'switched-off-1',
      toolId: tool.id,
      subject: 'user-1',
      issuer: app.issuer.url,
      actor: { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null },
      details: { tool: 'echo', enabled: false, wasEnabled: true },
    });
    expect(story[1]?.details).toMatchObject({ fields: ['name'] });
  });

  it('names every field of a tool that a synchronisation changed, before and after', async () => {
    const versionId = 'diff';
    await createSystem(app, { baseUrl: server.url, versionId });
    title = 'Old';
    await testConnection(app, { baseUrl: server.url, versionId });
    title = 'New';
    await testConnection(app, { baseUrl: server.url, versionId });
    title = undefined;

    const [sync] = (await events(versionId)).filter(({ action }) => action === 'tools.sync');

    expect(sync?.details).toMatchObject({
      changed: [{ name: 'echo', changes: [{ path: '/title', before: '"Old"', after: '"New"' }] }],
      disabledForReview: ['echo'],
      fields: [],
    });
  });

  it('distinguishes denied, failed and timed-out operations', async () => {
    const versionId = 'outcomes';
    const body = createSystemBody();
    await app.request('PATCH', createPath('app', versionId), { body });
    await app.request('PATCH', createPath('app', versionId), { body });
    const token = await app.tokenWith({ scope: 'openid', sub: 'intruder' });
    await app.request('PATCH', createPath('app', versionId), { body, token });
    await testConnection(app, { baseUrl: 'http://127.0.0.1:1/mcp', versionId });
    await testConnection(app, { baseUrl: silent.url, versionId });

    await expect
      .poll(async () =>
        (await events(versionId)).map(({ action, outcome }) => `${action} ${outcome}`).toSorted(),
      )
      .toEqual([
        'connection.test error',
        'connection.test timeout',
        'system.create denied',
        'system.create error',
        'system.create ok',
      ]);
    const denied = (await events(versionId)).find(({ outcome }) => outcome === 'denied');
    expect(denied).toMatchObject({ subject: 'intruder', details: { permission: 'integration-management' } });
    const failed = (await events(versionId)).find(
      ({ action, outcome }) => action === 'system.create' && outcome === 'error',
    );
    expect(failed?.details).toEqual({ code: 'SYSTEM_NAME_TAKEN' });
  });

  it('is read in pages that neither skip nor repeat events', async () => {
    const versionId = 'pages';
    for (let count = 0; count < 5; count += 1) {
      await createSystem(app, { baseUrl: server.url, versionId });
    }
    const seen: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const query: string = `?limit=2${next === '' ? '' : `&before=${next}`}`;
      const page = await app.request<{ events: AuditEvent[]; next: string | null }>(
        'GET',
        auditPath(versionId, query),
      );
      expect(page.body.events.length).toBeLessThanOrEqual(2);
      seen.push(...page.body.events.map(({ id }) => id));
      next = page.body.next;
    }

    expect(seen).toHaveLength(5);
    expect(seen).toEqual([...new Set(seen)].toSorted().toReversed());
  });

  it('shows nothing of another version or application', async () => {
    expect(await events('never-used')).toEqual([]);
  });

  it.each([
    ['limit=0', 'must be at least 1'],
    ['limit=101', 'must be at most 100'],
    ['limit=many', 'must be a whole number'],
    ['limit=1.5', 'must be a whole number'],
    ['limit=0x2', 'must be a whole number'],
    ['limit=', 'must be a whole number'],
    ['before=a%20b', 'must be the value of next from a page'],
    ['before=zz', 'must be the value of next from a page'],
    ['before=0', 'must be the value of next from a page'],
    ['systemResourceId=%2F', 'must be 1 to 64'],
  ])('refuses the query %s', async (query, rule) => {
    const response = await app.request('GET', auditPath('pages', `?${query}`));
    expect(response.status).toBe(400);
    expect(response.body['details']).toContain(`${query.split('=')[0]}: ${rule}`);
  });

  it('records a bounded number of refusals per caller', async () => {
    const versionId = 'refusals';
    const intruders = ['one', 'two'].map((sub) => strict.tokenWith({ scope: 'openid', sub }));
    for (const token of await Promise.all(intruders)) {
      for (let call = 0; call < 5; call += 1) {
        const answer = await strict.request('PATCH', createPath('app', versionId), {
          body: createSystemBody(),
          token,
        });
        expect(answer.status).toBe(403);
      }
    }
    const subjects = async () => {
      const page = await strict.request<{ events: AuditEvent[] }>('GET', auditPath(versionId));
      return page.body.events.map(({ subject }) => subject).toSorted();
    };
    await expect.poll(subjects).toEqual(['one', 'one', 'two', 'two']);
  });
});
