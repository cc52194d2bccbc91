import { setTimeout as sleep } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { ToolEntity } from '../../../src/systems/tools/storage/tool.entity.js';
import { TestApp } from '../../support/app.js';
import { toolPath } from '../../support/factories.js';
import { sendResult, startScriptedMcp, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import { createSystem, flags, readSystem, testConnection, type SystemBody } from './tool-support.js';

const inputSchema = {
  type: 'object',
  properties: { '10': { enum: ['ü', '😀', '𠜎'] }, '9': { type: 'number' }, a: {} },
  required: ['a'],
};
const alpha = {
  name: 'alpha',
  title: 'Erstes 🤖',
  description: 'Zählt «alles» 在庫 📦\n\t"\'\\ %s',
  inputSchema,
  outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
  annotations: { readOnlyHint: true },
};
const beta = { name: 'beta', inputSchema: { type: 'object' } };

describe('rows after a synchronization or a switch', () => {
  let app: TestApp;
  let server: ScriptedMcpPeer;
  let listed: unknown[];
  let versionId: string;
  let system: SystemBody;

  beforeAll(async () => {
    app = await TestApp.shared();
    server = await startScriptedMcp({
      list: ({ id, response }) => sendResult(response, id, { tools: listed }),
    });
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });
  beforeEach(async () => {
    listed = [alpha, beta];
    versionId = `v-${randomBytes(6).toString('hex')}`;
    system = await createSystem(app, { baseUrl: server.url, versionId });
  });

  const sync = () => testConnection(app, { baseUrl: server.url, versionId });
  const rows = () =>
    app.dataSource.getRepository(ToolEntity).find({ where: { systemId: system.id }, order: { name: 'ASC' } });
  const systemRow = () => app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id: system.id });
  const enable = async (toolId: string, enabled: boolean, token?: string) => {
    const ids = { resourceId: system.resourceId, systemId: system.id, toolId };
    return app.request('PATCH', toolPath(ids, 'app', versionId), {
      body: { enabled },
      ...(token === undefined ? {} : { token }),
    });
  };
  const max = () => app.tokenWith({ given_name: 'Max', family_name: 'Muster', preferred_username: 'max' });
  const MAX = { firstName: 'Max', lastName: 'Muster', userName: 'max', impersonatingUser: null };

  it('contain the complete definition', async () => {
    const before = Date.now();
    await sync();

    const [first, second] = await rows();
    expect(first).toEqual({
      ...alpha,
      id: expect.any(String),
      systemId: system.id,
      definitionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      enabled: true,
      decidedBy: null,
      decidedAt: first?.createdAt,
      present: true,
      position: 0,
      createdAt: expect.any(Date),
      modifiedAt: first?.createdAt,
    });
    expect(second).toMatchObject({
      title: null,
      description: '',
      outputSchema: null,
      annotations: null,
      position: 1,
    });
    expect(first?.createdAt.getTime()).toBeGreaterThanOrEqual(before);
    const shown = (await readSystem(app, system.resourceId, versionId)).tools[0];
    expect(shown).toMatchObject({
      description: alpha.description,
      inputSchema,
      outputSchema: alpha.outputSchema,
    });
  });

  it('have a new modification time of the system only if something changed', async () => {
    const created = await systemRow();
    await sleep(5);
    await sync();
    const first = await systemRow();
    expect(first.toolsSynchronisedAt).toBeInstanceOf(Date);
    expect(first.modifiedAt.getTime()).toBeGreaterThan(created.modifiedAt.getTime());
    await sleep(5);

    await sync();

    const second = await systemRow();
    expect(second).toEqual({ ...first, toolsSynchronisedAt: expect.any(Date) });
    expect(second.toolsSynchronisedAt?.getTime()).toBeGreaterThan(first.modifiedAt.getTime());
  });

  it('keep id, flag and creation time of a tool that changes', async () => {
    await sync();
    const [before] = await rows();
    await sleep(5);
    listed = [beta, { ...alpha, title: 'Neu' }];

    await sync();

    const [after] = await rows();
    expect(after).toEqual({
      ...before,
      title: 'Neu',
      definitionHash: expect.not.stringMatching(before?.definitionHash ?? ''),
      enabled: false,
      decidedAt: after?.modifiedAt,
      position: 1,
      modifiedAt: expect.any(Date),
    });
    expect(after?.modifiedAt.getTime()).toBeGreaterThan(before?.modifiedAt.getTime() ?? 0);
  });

  it('keep a removed tool unchanged, but not present', async () => {
    await sync();
    const [before] = await rows();
    listed = [beta];
    await sync();
    const [after] = await rows();
    expect(after).toEqual({ ...before, present: false, modifiedAt: expect.any(Date) });
  });

  it('keep all tools, not present, when the server lists none', async () => {
    await sync();
    listed = [];

    const { body } = await sync();

    expect(body.synchronizedSystems?.[0]).toMatchObject({ removed: ['alpha', 'beta'] });
    expect((await rows()).map(({ present, enabled }) => [present, enabled])).toEqual([
      [false, true],
      [false, true],
    ]);
    listed = [beta, alpha];
    await sync();
    expect(flags((await readSystem(app, system.resourceId, versionId)).tools)).toEqual(['beta', 'alpha']);
  });

  it('treat an empty first list as the baseline, so that later tools need review', async () => {
    listed = [];
    await sync();
    listed = [beta];
    await sync();
    expect((await rows())[0]?.enabled).toBe(false);
  });

  it('distinguish tool names by case', async () => {
    const echo = { inputSchema: { type: 'object' } };
    listed = [
      { ...echo, name: 'echo' },
      { ...echo, name: 'Echo' },
      { ...echo, name: 'ECHO' },
    ];
    await sync();
    const { tools } = await readSystem(app, system.resourceId, versionId);
    await enable(tools[1]!.id, false);
    listed = listed.slice(1);
    await sync();
    expect(flags((await readSystem(app, system.resourceId, versionId)).tools)).toEqual(['-Echo', 'ECHO']);
    expect(await rows()).toHaveLength(3);
  });

  it('change only the flag, the times and the user when a tool is switched', async () => {
    await sync();
    const [tool, other] = await rows();
    const before = await systemRow();
    await sleep(5);

    expect((await enable(tool!.id, false, await max())).status).toBe(200);

    const [switched, untouched] = await rows();
    const decided = { enabled: false, decidedBy: MAX, decidedAt: switched?.modifiedAt };
    expect(switched).toEqual({ ...tool, ...decided, modifiedAt: expect.any(Date) });
    expect(switched?.modifiedAt.getTime()).toBeGreaterThan(tool?.modifiedAt.getTime() ?? 0);
    expect(untouched).toEqual(other);
    const after = await systemRow();
    expect(after).toEqual({ ...before, modifiedBy: MAX, modifiedAt: expect.any(Date) });
    expect(after.modifiedAt.getTime()).toBeGreaterThan(before.modifiedAt.getTime());
  });

  it('are unchanged by a switch without effect, except for the first user who reviewed the tool', async () => {
    await sync();
    const [[tool], system] = [await rows(), await systemRow()];
    await sleep(5);
    const already = async () => (await enable(tool!.id, true, await max())).body['message'];
    expect(await already()).toBe('Tool is already enabled.');
    const before = [await rows(), await systemRow()];
    expect((await rows())[0]).toEqual({ ...tool, decidedBy: MAX, decidedAt: expect.any(Date) });
    expect(await systemRow()).toEqual(system);
    await sleep(5);
    expect(await already()).toBe('Tool is already enabled.');
    expect([await rows(), await systemRow()]).toEqual(before);
  });
});
