import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuditAction } from '../../../src/audit/model/audit.types.js';
import { AuditEventEntity } from '../../../src/audit/storage/audit-event.entity.js';
import { SystemEntity } from '../../../src/systems/storage/system.entity.js';
import { ToolEntity } from '../../../src/systems/tools/storage/tool.entity.js';
import { TestApp } from '../../support/app.js';
import { systemPath, toolPath } from '../../support/factories.js';
import { sendResult, startScriptedMcp, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import {
  commitVersion,
  createSystem,
  flags,
  readSystem,
  testConnection,
  type SystemBody,
  type ToolBody,
} from './tool-support.js';

const inputSchema = { type: 'object' };

describe('concurrent connection tests, switches and changes of one system', () => {
  let app: TestApp;
  let server: ScriptedMcpPeer;
  let listed: { name: string; [field: string]: unknown }[];
  /** Runs when the server receives a request for its list, before it answers. */
  let onList: () => Promise<unknown>;
  let versionId: string;
  let system: SystemBody;

  beforeAll(async () => {
    app = await TestApp.shared();
    server = await startScriptedMcp({
      list: ({ id, response }) => {
        void onList().then(() => sendResult(response, id, { tools: listed }));
      },
    });
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });
  beforeEach(async () => {
    onList = () => Promise.resolve();
    listed = [
      { name: 'alpha', inputSchema },
      { name: 'beta', inputSchema },
    ];
    versionId = `v-${randomBytes(6).toString('hex')}`;
    system = await createSystem(app, { baseUrl: server.url, versionId });
  });

  const sync = () => testConnection(app, { baseUrl: server.url, versionId });
  const stored = () => readSystem(app, system.resourceId, versionId);
  const rows = () =>
    app.dataSource
      .getRepository(ToolEntity)
      .find({ where: { systemId: system.id }, order: { position: 'ASC' } });
  const systemRow = () => app.dataSource.getRepository(SystemEntity).findOneByOrFail({ id: system.id });
  const path = () => systemPath(system.resourceId, 'app', versionId);
  const enable = (tool: ToolBody, enabled: boolean) =>
    app.request(
      'PATCH',
      toolPath({ resourceId: system.resourceId, systemId: system.id, toolId: tool.id }, 'app', versionId),
      { body: { enabled } },
    );

  it('stores only one baseline when ten first tests run concurrently', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, sync));

    expect(answers.map(({ body }) => body.status)).toEqual(Array(10).fill(200));
    const reports = answers.map(({ body }) => body.synchronizedSystems?.[0]?.added);
    expect(reports.filter((added) => added?.length === 2)).toHaveLength(1);
    expect(reports.filter((added) => added?.length === 0)).toHaveLength(9);
    expect(
      (await rows()).map(({ name, enabled, present, position }) => [name, enabled, present, position]),
    ).toEqual([
      ['alpha', true, true, 0],
      ['beta', true, true, 1],
    ]);
    const events = await app.dataSource.getRepository(AuditEventEntity).findBy({ appVersionId: versionId });
    const count = (action: AuditAction) => events.filter((event) => event.action === action).length;
    expect([count(AuditAction.ToolsSync), count(AuditAction.ConnectionTest)]).toEqual([1, 10]);
  });

  it('disables a changed tool once, and does not overrule an admin who enables it meanwhile', async () => {
    await sync();
    const [alpha] = (await stored()).tools;
    listed = [{ name: 'alpha', inputSchema, description: 'changed' }, ...listed.slice(1)];

    const [tests, switches, more] = await Promise.all([
      Promise.all(Array.from({ length: 5 }, sync)),
      Promise.all(Array.from({ length: 5 }, () => enable(alpha!, true))),
      Promise.all(Array.from({ length: 5 }, sync)),
    ]);

    expect(switches.map(({ status }) => status)).toEqual(Array(5).fill(200));
    const reports = [...tests, ...more].map(({ body }) => body.synchronizedSystems?.[0]);
    expect(reports).not.toContain(undefined);
    const disabled = reports.flatMap((report) => report?.disabledForReview);
    expect(disabled).toEqual(['alpha']);
    await enable(alpha!, true);
    await sync();
    expect(flags((await stored()).tools)).toEqual(['alpha', 'beta']);
  });

  it('keeps the last switches regardless of concurrent tests', async () => {
    await sync();
    const { tools } = await stored();
    for (let round = 0; round < 3; round += 1) {
      const tests = Array.from({ length: 4 }, sync);
      await Promise.all(tools.map((tool) => enable(tool, false)));
      await enable(tools[1]!, true);
      await Promise.all(tests);
      expect(flags((await stored()).tools)).toEqual(['-alpha', 'beta']);
    }
  });

  it('stores nothing if the connection of the system changes during the test', async () => {
    onList = () => app.request('PATCH', path(), { body: { baseUrl: 'https://elsewhere.example.com/' } });

    const { body } = await sync();

    expect(body).toMatchObject({ status: 200, synchronizedSystems: [], warnings: expect.any(Array) });
    expect(await rows()).toEqual([]);
    expect(await systemRow()).toMatchObject({ toolsSynchronisedAt: null });
  });

  it('stores nothing if the system is deleted during the test', async () => {
    onList = () => app.request('DELETE', path());

    const { body } = await sync();

    expect(body).toMatchObject({ status: 200, synchronizedSystems: [] });
    expect(await rows()).toEqual([]);
  });

  it('stores only the tools if the version is committed during the test', async () => {
    onList = () => commitVersion(app, versionId);
    const { modifiedAt, modifiedBy } = await systemRow();

    const { body } = await sync();

    expect(body).toMatchObject({ status: 200, synchronizedSystems: [{ added: ['alpha', 'beta'] }] });
    expect(await rows()).toHaveLength(2);
    expect(await systemRow()).toMatchObject({
      modifiedAt,
      modifiedBy,
      toolsSynchronisedAt: expect.any(Date),
    });
  });

  it('keeps changes of an admin during the test, and stores the tools', async () => {
    onList = () => app.request('PATCH', path(), { body: { name: 'Renamed', description: 'Ours' } });

    expect((await sync()).body.synchronizedSystems).toHaveLength(1);

    expect(await systemRow()).toMatchObject({ name: 'Renamed', description: 'Ours' });
    expect(await rows()).toHaveLength(2);
  });

  it('covers a system that is created during the test only with the next test', async () => {
    let late: SystemBody | undefined;
    onList = async () => {
      late ??= await createSystem(app, { baseUrl: server.url, versionId });
    };
    await sync();
    expect((await readSystem(app, late!.resourceId, versionId)).tools).toEqual([]);
    await sync();
    expect((await readSystem(app, late!.resourceId, versionId)).tools).toHaveLength(2);
  });
});
