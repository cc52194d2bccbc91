import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AuditAction } from '../../../src/audit/model/audit.types.js';
import { ToolDecisionEntity } from '../../../src/systems/tools/storage/tool.entity.js';
import { ToolDecisionsRepository } from '../../../src/systems/tools/storage/tool-decisions.repository.js';
import { TestApp } from '../../support/app.js';
import { connectionTestPath, detailsPath, systemPath, toolPath } from '../../support/factories.js';
import { sendResult, startScriptedMcp, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import { packageDocument } from '../../support/runtime/publish.js';
import { build, commit, store, systemRows, toolsOfBuild } from '../builds/rows.js';
import {
  auditRows,
  createdSystem,
  newPlace,
  toolRows,
  type Place,
  type SystemBody,
} from '../systems/rows.js';
import { flags, startToolServices, type ConnectionTestBody, type ToolBody } from './tool-support.js';

const JANE = { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null };
const resourceName = 'Stock';

const tool = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' } });

describe('a decision about a tool', () => {
  let app: TestApp;
  let accepting: TestApp;
  let server: ScriptedMcpPeer;
  let close: () => Promise<void>;
  let listed: ReturnType<typeof tool>[];
  let jane: string;
  let v1: Place;
  let v2: Place;

  beforeAll(async () => {
    ({ app, accepting, server, close } = await startToolServices(() => listed));
  });
  afterAll(() => close());
  beforeEach(async () => {
    jane = await app.tokenWith({
      given_name: 'Jane',
      family_name: 'Doe',
      preferred_username: 'jane.doe',
    });
    v1 = newPlace();
    v2 = { ...v1, versionId: 'v2' };
    listed = [tool('alpha'), tool('beta')];
  });

  const register = (place: Place) =>
    createdSystem(app, place, { resourceName, payload: { baseUrl: server.url } });
  const test = async ({ appId, versionId }: Place, target = app) => {
    const body = { baseUrl: server.url, authorization: { type: 'NO_AUTH' } };
    const path = connectionTestPath(appId, versionId);
    const answer = await target.request<ConnectionTestBody>('PATCH', path, { body });
    expect([answer.status, answer.body.status]).toEqual([200, 200]);
    return answer.body.synchronizedSystems![0]!;
  };
  const toolsOf = async ({ appId, versionId }: Place, { resourceId }: { resourceId: string }) =>
    (await app.request<{ tools: ToolBody[] }>('GET', detailsPath(resourceId, appId, versionId))).body.tools;
  const flagsOf = async (place: Place, system: { resourceId: string }) => flags(await toolsOf(place, system));
  const switched = async (
    place: Place,
    system: { id: string; resourceId: string },
    name: string,
    enabled: boolean,
  ) => {
    const { id } = (await toolsOf(place, system)).find((candidate) => candidate.name === name)!;
    const path = toolPath(
      { resourceId: system.resourceId, systemId: system.id, toolId: id },
      place.appId,
      place.versionId,
    );
    const { status, body } = await app.request<{ message: string }>('PATCH', path, {
      body: { enabled },
      token: jane,
    });
    expect(status).toBe(200);
    return body.message;
  };
  const decisions = ({ resourceDefinitionId }: SystemBody) =>
    app.dataSource
      .getRepository(ToolDecisionEntity)
      .find({ where: { resourceDefinitionId }, order: { name: 'ASC', decidedAt: 'ASC' } });

  it('appears as changed if another version has already disabled the new definition', async () => {
    await register(v1);
    await test(v1);
    listed = [tool('alpha'), tool('beta'), tool('gamma', 'second')];
    await test(v1);
    const { resourceId } = await register(v2);
    listed = [tool('alpha'), tool('beta'), tool('gamma', 'first')];
    await test(v2);
    listed = [tool('alpha'), tool('beta'), tool('gamma', 'second')];
    await test(v2, accepting);

    const path = `${systemPath(resourceId, v2.appId, v2.versionId)}/tool-reviews`;
    const { reviews } = (
      await app.request<{ reviews: { name: string; enabled: boolean; found: string }[] }>('GET', path)
    ).body;
    expect(reviews.find(({ name }) => name === 'gamma')).toMatchObject({ enabled: false, found: 'CHANGED' });
  });

  it('applies in the next version, with its user and time', async () => {
    const first = await register(v1);
    await test(v1);
    await switched(v1, first, 'beta', false);
    const [, decided] = await toolRows(app, first.id);

    const second = await register(v2);
    const report = await test(v2);

    expect(await flagsOf(v2, second)).toEqual(['alpha', '-beta']);
    const takenOver = [
      { name: 'alpha', enabled: true, decidedBy: null, decidedAt: expect.any(String) },
      { name: 'beta', enabled: false, decidedBy: JANE, decidedAt: decided?.decidedAt?.toISOString() },
    ];
    expect(report).toMatchObject({ added: ['alpha', 'beta'], disabledForReview: [], takenOver });
    expect((await toolRows(app, second.id))[1]).toMatchObject({
      decidedBy: JANE,
      decidedAt: decided?.decidedAt,
    });
    const [event] = (await auditRows(app, v2)).filter(({ action }) => action === AuditAction.ToolsSync);
    expect(event?.details).toMatchObject({ takenOver });
  });

  it('to enable a tool again applies in the next version', async () => {
    const first = await register(v1);
    await test(v1);
    await switched(v1, first, 'beta', false);
    await switched(v1, first, 'beta', true);
    const second = await register(v2);
    await test(v2);
    expect(await flagsOf(v2, second)).toEqual(['alpha', 'beta']);
  });

  it('does not change versions that already have tools; the next version takes over the latest decisions', async () => {
    const [first, second] = [await register(v1), await register(v2)];
    await test(v1);
    await test(v2);
    await switched(v1, first, 'beta', false);
    expect(await flagsOf(v2, second)).toEqual(['alpha', 'beta']);
    await test(v2);
    expect(await flagsOf(v2, second)).toEqual(['alpha', 'beta']);
    await switched(v2, second, 'alpha', false);
    const v3 = { ...v1, versionId: 'v3' };
    const third = await register(v3);
    await test(v3);
    expect(await flagsOf(v3, third)).toEqual(['-alpha', '-beta']);
  });

  it('records the first user who reviewed the tool, even if the flag does not change', async () => {
    const first = await register(v1);
    await test(v1);
    expect((await decisions(first)).map(({ decidedBy }) => decidedBy)).toEqual([null, null]);
    expect(await switched(v1, first, 'alpha', true)).toBe('Tool is already enabled.');
    expect(await decisions(first)).toMatchObject([{ decidedBy: JANE, enabled: true }, { decidedBy: null }]);
    const [row] = await toolRows(app, first.id);
    await switched(v1, first, 'alpha', true);
    expect((await toolRows(app, first.id))[0]).toEqual(row);
  });

  it('does not apply to another definition, which needs review in the next version too', async () => {
    const first = await register(v1);
    await test(v1);
    await switched(v1, first, 'alpha', true);
    listed = [tool('alpha', 'Does something else'), tool('beta'), tool('gamma')];
    const second = await register(v2);
    const report = await test(v2);
    expect(report).toMatchObject({
      added: ['alpha', 'beta', 'gamma'],
      disabledForReview: ['alpha', 'gamma'],
      takenOver: [{ name: 'beta' }],
    });
    expect(await flagsOf(v2, second)).toEqual(['-alpha', 'beta', '-gamma']);
    await switched(v2, second, 'alpha', true);
    // A user's review of the definition is not undone when an older version sees the definition later.
    expect(await test(v1)).toMatchObject({ changed: ['alpha'], disabledForReview: ['alpha', 'gamma'] });
    const v3 = { ...v1, versionId: 'v3' };
    const third = await register(v3);
    await test(v3);
    expect(await flagsOf(v3, third)).toEqual(['alpha', 'beta', '-gamma']);
  });

  it('keeps a tool disabled with the policy accept, even if its definition changed', async () => {
    const first = await register(v1);
    await test(v1);
    await switched(v1, first, 'alpha', false);
    listed = [tool('alpha'), tool('beta', 'Does something else'), tool('gamma')];
    const second = await register(v2);
    await test(v2, accepting);
    expect(await flagsOf(v2, second)).toEqual(['-alpha', 'beta', 'gamma']);
    listed = [tool('alpha', 'Does something else')];
    const v3 = { ...v1, versionId: 'v3' };
    const third = await register(v3);
    await test(v3, accepting);
    expect(await flagsOf(v3, third)).toEqual(['-alpha']);
  });

  it('applies again if the system is deleted and recreated', async () => {
    const first = await register(v1);
    await test(v1);
    await switched(v1, first, 'beta', false);
    await app.request('DELETE', systemPath(first.resourceId, v1.appId, v1.versionId));
    listed = [tool('alpha'), tool('beta'), tool('gamma')];
    const again = await register(v1);
    await test(v1);
    expect(again.resourceDefinitionId).toBe(first.resourceDefinitionId);
    expect(await flagsOf(v1, again)).toEqual(['alpha', '-beta', '-gamma']);
  });

  it('is required for later tools if the first list was empty', async () => {
    listed = [];
    await register(v1);
    await test(v1);
    listed = [tool('alpha')];
    const second = await register(v2);
    expect(await test(v2)).toMatchObject({ disabledForReview: ['alpha'] });
    expect(await flagsOf(v2, second)).toEqual(['-alpha']);
  });

  it('is not shared between applications', async () => {
    const first = await register(v1);
    await test(v1);
    await switched(v1, first, 'beta', false);
    const other = newPlace();
    const stranger = await register(other);
    expect(await test(other)).toMatchObject({ takenOver: [] });
    expect(await flagsOf(other, stranger)).toEqual(['alpha', 'beta']);
  });

  describe('with delivered packages', () => {
    const deliver = async (place: Place, type = 'MCP') => {
      const systems = [{ resourceName, type, name: 'Stock', baseUrl: server.url }];
      const { status, text } = await store(
        app,
        place,
        packageDocument(place.appId, { package: { systems } }),
      );
      expect([status, text]).toEqual([200, text]);
      const [row] = await systemRows(app, place);
      return row!;
    };

    it('applies in the delivered version and in its builds', async () => {
      const first = await deliver(v1);
      await test(v1);
      await switched(v1, first, 'beta', false);
      const second = await deliver(v2);
      await test(v2);
      expect(await flagsOf(v2, second)).toEqual(['alpha', '-beta']);
      expect((await commit(app, v2)).status).toBe(200);
      const { buildId } = (await build(app, v2)).body;
      expect((await toolsOfBuild(app, buildId)).map(({ name, enabled }) => [name, enabled])).toEqual([
        ['alpha', true],
        ['beta', false],
      ]);
    });

    it('applies if a system changes its type and becomes MCP again', async () => {
      const first = await deliver(v1);
      await test(v1);
      await switched(v1, first, 'beta', false);
      const rest = await deliver(v1, 'REST');
      expect(await toolRows(app, first.id)).toEqual([]);
      const again = await deliver(v1);
      expect([rest.resourceDefinitionId, again.resourceDefinitionId]).toEqual([
        first.resourceDefinitionId,
        first.resourceDefinitionId,
      ]);
      await test(v1);
      expect(await flagsOf(v1, again)).toEqual(['alpha', '-beta']);
    });
  });

  it('is deleted beyond mcpLimits.toolDecisionsKept if no version has the definition and no user made it', async () => {
    const strict = await TestApp.start({ 'mcpLimits.toolDecisionsKept': '2' });
    const first = await register(v1);
    await test(v1, strict);
    await switched(v1, first, 'beta', false);
    const second = await register(v2);
    await test(v2, strict);
    for (let round = 1; round <= 5; round += 1) {
      listed = [tool('alpha', `It is ${round}`), tool('beta', `It is ${round}`)];
      await test(v1, strict);
    }
    await strict.close();
    const known = await decisions(first);
    const of = (name: string) => known.filter((one) => one.name === name);
    // The decision that v2 uses, the latest two, and Jane's decision.
    expect(of('alpha').map(({ enabled }) => enabled)).toEqual([true, false, false]);
    expect(of('beta').map(({ decidedBy }) => decidedBy)).toEqual([JANE, null, null]);
    const stored = await Promise.all([first, second].map(({ id }) => toolRows(app, id)));
    const hashes = known.map(({ definitionHash }) => definitionHash);
    expect(hashes).toEqual(expect.arrayContaining(stored.flat().map(({ definitionHash }) => definitionHash)));
    listed = [tool('alpha', 'It is 1'), tool('beta', 'It is 1')];
    const v3 = { ...v1, versionId: 'v3' };
    const third = await register(v3);
    await test(v3);
    expect(await flagsOf(v3, third)).toEqual(['-alpha', '-beta']);
  });

  it('is only read for listed names', async () => {
    const first = await register(v1);
    await test(v1);
    const { resourceDefinitionId } = first;
    const rows = Array.from({ length: 2_000 }, (_, index) => ({
      resourceDefinitionId,
      name: `gone-${index}`,
      definitionHash: 'x'.repeat(64),
      enabled: false,
      decidedBy: null,
      decidedAt: null,
    }));
    await app.dataSource.getRepository(ToolDecisionEntity).insert(rows);
    const find = vi.spyOn(app.nest.get(ToolDecisionsRepository), 'of');
    await register(v2);
    await test(v2);
    expect(find).toHaveBeenCalledTimes(1);
    expect(await find.mock.results[0]!.value).toHaveLength(2);
    vi.restoreAllMocks();
  });

  it('is made once when versions get their first lists concurrently on two replicas', async () => {
    const places = ['v1', 'v2', 'v3', 'v4'].map((versionId) => ({ ...v1, versionId }));
    const systems: SystemBody[] = [];
    for (const place of places) {
      systems.push(await register(place));
    }
    const other = await TestApp.start();
    const lists = [[tool('alpha')], [tool('alpha'), tool('beta')]];
    let requests = 0;
    const racing = await startScriptedMcp({
      list: ({ id, response }) => sendResult(response, id, { tools: lists[(requests += 1) % 2] }),
    });
    for (const [index, place] of places.entries()) {
      const path = systemPath(systems[index]!.resourceId, place.appId, place.versionId);
      await app.request('PATCH', path, { body: { baseUrl: racing.url } });
    }
    const body = { baseUrl: racing.url, authorization: { type: 'NO_AUTH' } };
    await Promise.all(
      places.map(({ appId, versionId }, index) =>
        (index % 2 === 0 ? app : other).request('PATCH', connectionTestPath(appId, versionId), { body }),
      ),
    );
    await Promise.all([other.close(), racing.close()]);
    // The first list decides. If only later lists contain beta, it is a new tool.
    const known = await decisions(systems[0]!);
    expect(known.map(({ name }) => name)).toEqual(['alpha', 'beta']);
    const [alpha, beta] = known;
    expect(alpha?.enabled).toBe(true);
    for (const system of systems) {
      const rows = await toolRows(app, system.id);
      expect(rows[0]).toMatchObject({ name: 'alpha', enabled: true, decidedAt: alpha?.decidedAt });
      for (const row of rows.slice(1)) {
        expect(row).toMatchObject({ name: 'beta', enabled: beta?.enabled, decidedAt: beta?.decidedAt });
      }
    }
  });

  it('is consistent in the next version even if the tool is switched during its test', async () => {
    const first = await register(v1);
    await test(v1);
    for (let round = 2; round < 6; round += 1) {
      const next = { ...v1, versionId: `v${round}` };
      const system = await register(next);
      const [, before] = await decisions(first);
      await Promise.all([test(next), switched(v1, first, 'beta', round % 2 === 1)]);
      const [, after] = await decisions(first);
      expect(after).toMatchObject({ enabled: round % 2 === 1, decidedBy: JANE });
      // Either may come first, but flag, user and time must be from the same decision.
      const [, { enabled, decidedBy, decidedAt } = {}] = await toolRows(app, system.id);
      const either = [before, after].map((one) => [one?.enabled, one?.decidedBy, one?.decidedAt]);
      expect(either).toContainEqual([enabled, decidedBy, decidedAt]);
    }
  });
});
