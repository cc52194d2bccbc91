import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuditAction } from '../../../../src/audit/model/audit.types.js';
import { AuditEventEntity } from '../../../../src/audit/storage/audit-event.entity.js';
import type { SyncDetails } from '../../../../src/systems/tools/synchronisation/sync-details.js';
import { TestApp } from '../../../../test/support/app.js';
import { startScriptedMcp, type ScriptedMcpPeer } from '../../../../test/support/peers/scripted-mcp.peer.js';
import {
  createSystem,
  flags,
  readSystem,
  testConnection,
  type SystemBody,
} from '../../../../test/integration/tools/tool-support.js';

/** 1e20 as written by JSON.stringify; a server may write it in four characters. */
const LONG_NUMBER = '100000000000000000000';

/** Returns two thousand tools that each differ in fifty places from those with another value. */
const fiftyFields = (value: string) =>
  Array.from({ length: 2_000 }, (_, index) => ({
    name: `tool-${index}`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 50 }, (_none, member) => [`${'p'.repeat(40)}${member}`, value]),
      ),
    },
  }));

/** Default of `detailsBytes`. */
const MAX_DETAILS = 32_768;

describe('a synchronization with hostile tool definitions', () => {
  let app: TestApp;
  let server: ScriptedMcpPeer;
  let listed: { name: string; [field: string]: unknown }[];
  let versionId: string;
  let system: SystemBody;
  let pageSize: number;

  beforeAll(async () => {
    app = await TestApp.start();
    server = await startScriptedMcp({
      list: ({ id, cursor, response }) => {
        const start = Number(cursor ?? 0);
        const next = start + pageSize;
        const result = {
          tools: listed.slice(start, next),
          ...(next < listed.length && { nextCursor: String(next) }),
        };
        const text = JSON.stringify({ jsonrpc: '2.0', id, result }).replaceAll(LONG_NUMBER, '1e20');
        response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      },
    });
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });
  beforeEach(async () => {
    pageSize = 25;
    versionId = `v-${randomBytes(6).toString('hex')}`;
    system = await createSystem(app, { baseUrl: server.url, versionId });
  });

  const sync = async (tools: typeof listed) => {
    listed = tools;
    const response = await testConnection(app, { baseUrl: server.url, versionId });
    expect(response.body).toMatchObject({ status: 200, rejectedTools: [] });
    return response.body;
  };
  const lastReport = async (): Promise<SyncDetails> => {
    const [event] = await app.dataSource.getRepository(AuditEventEntity).find({
      where: { appVersionId: versionId, action: AuditAction.ToolsSync },
      order: { id: 'DESC' },
      take: 1,
    });
    return event?.details as unknown as SyncDetails;
  };

  it.each([0, 1, 2, 3])(
    'records a change of a long text of four-byte characters cut at any place (offset %i)',
    async (offset) => {
      const text = (mark: string) => `${'x'.repeat(offset)}${'😀'.repeat(600)}${mark}`;
      const withText = (mark: string) => [
        { name: 'a', description: text(mark), inputSchema: { type: 'object', title: text(mark) } },
      ];
      await sync(withText('1'));
      await sync(withText('2'));

      const [change] = (await lastReport()).changed;
      expect(change?.changes.map(({ path }) => path)).toEqual(['/description', '/inputSchema/title']);
      expect(change?.changes[0]?.before).toMatch(/^"x*😀+…$/u);
      expect((await readSystem(app, system.resourceId, versionId)).tools[0]?.description).toBe(text('2'));
    },
  );

  it('stores schemas unchanged, without evaluating them', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        broken: { type: 'string', pattern: '(' },
        slow: { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(2_000)}!` },
        unknown: { type: 'no type at all', format: 'none', minimum: 'text' },
      },
    };
    await sync([{ name: 'a', description: '', inputSchema }]);
    expect((await readSystem(app, system.resourceId, versionId)).tools[0]?.inputSchema).toEqual(inputSchema);
  });

  it('keeps the record of a change small when member names are as large as the schema limit', async () => {
    const long = 'n'.repeat(50_000);
    const tools = (value: number) =>
      Array.from({ length: 100 }, (_, index) => ({
        name: `tool-${index}`,
        inputSchema: {
          type: 'object',
          properties: {
            [long]: Object.fromEntries(Array.from({ length: 60 }, (_none, member) => [`m${member}`, value])),
          },
        },
      }));
    await sync(tools(1));

    const { synchronizedSystems } = await sync(tools(2));

    expect(synchronizedSystems?.[0]?.changed).toHaveLength(100);
    const report = await lastReport();
    expect(report.changed.map(({ name }) => name)).toEqual(listed.map(({ name }) => name));
    expect(report.changed[0]?.changes.length).toBeGreaterThan(0);
    expect(JSON.stringify(report).length).toBeLessThan(MAX_DETAILS);
  });

  it('keeps the record small when two thousand tools change in fifty places each', async () => {
    pageSize = 100;
    await sync(fiftyFields('1'));

    await sync(fiftyFields('2'));

    const report = await lastReport();
    expect(report.changed.length + (report.omitted?.changed ?? 0)).toBe(2_000);
    expect(report.changed[0]?.changes.length).toBeGreaterThan(0);
    expect(JSON.stringify(report).length).toBeLessThan(MAX_DETAILS);
  });

  it('stores a hundred tools that are as large as the limits allow once escaped for the database', async () => {
    const numbers = Array<number>(2_500).fill(1e20);
    const quotes = '"'.repeat(29_000);
    await sync(
      Array.from({ length: 100 }, (_, index) => ({
        name: `tool-${index}`,
        inputSchema: { type: 'object', examples: numbers },
        outputSchema: { type: 'object', title: quotes },
      })),
    );

    const { tools } = await readSystem(app, system.resourceId, versionId);
    expect(flags(tools)).toEqual(listed.map(({ name }) => name));
    expect(tools[99]?.outputSchema).toEqual({ type: 'object', title: quotes });
  });
});
