import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuditAction } from '../../../src/audit/model/audit.types.js';
import { AuditEventEntity } from '../../../src/audit/storage/audit-event.entity.js';
import { TestApp } from '../../support/app.js';
import { connectionTestPath, detailsPath, systemPath, uniqueName } from '../../support/factories.js';
import { startHttpPeer, type Peer } from '../../support/peers/peer.js';
import { createdSystem, systemRow, type Place, type SystemBody } from '../systems/rows.js';
import { testConnection } from './tool-support.js';

/** What a server says of itself. */
interface Identity {
  title?: string;
  description?: string;
  instructions?: string;
}

describe('the description that a server gives a system without one', () => {
  let app: TestApp;
  let server: Peer;
  let identity: Identity;
  let place: Place;

  beforeAll(async () => {
    app = await TestApp.shared();
    const serve = toNodeHandler(
      createMcpHandler(() => {
        const { instructions, ...rest } = identity;
        return new McpServer(
          { name: 'peer', version: '1.2.3', ...rest },
          { capabilities: { tools: {} }, ...(instructions !== undefined && { instructions }) },
        );
      }),
    );
    server = await startHttpPeer((request, response) => {
      void serve(request as Parameters<typeof serve>[0], response);
    }, '/mcp');
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });
  beforeEach(() => {
    place = { appId: 'app', versionId: uniqueName('v') };
  });

  const register = (description?: string) =>
    createdSystem(app, place, { payload: { baseUrl: server.url, ...(description && { description }) } });
  const test = async () => {
    const { body } = await testConnection(app, { baseUrl: server.url, versionId: place.versionId });
    expect(body).toMatchObject({ status: 200, server: { name: 'peer', version: '1.2.3' } });
  };
  const described = async ({ resourceId }: SystemBody) => {
    const path = detailsPath(resourceId, place.appId, place.versionId);
    return (await app.request<SystemBody>('GET', path)).body.description;
  };

  const syncEvents = ({ resourceId }: SystemBody) =>
    app.dataSource
      .getRepository(AuditEventEntity)
      .findBy({ systemResourceId: resourceId, action: AuditAction.ToolsSync });

  it.each<[string, Identity, string]>([
    ['its description', { title: 'T', description: 'D', instructions: 'I' }, 'D'],
    ['its title, never what it tells models to do', { title: 'T', instructions: 'I' }, 'T'],
    ['nothing', {}, ''],
    ['every letter', { description: 'Lager 📦 在庫 𠜎\n\tمخزون' }, 'Lager 📦 在庫 𠜎\n\tمخزون'],
    ['no more than 2,000 characters', { description: 'd'.repeat(100_000) }, 'd'.repeat(2_000)],
    ['no half characters', { description: `x${'📦'.repeat(2_000)}` }, `x${'📦'.repeat(999)}`],
    ['no hidden text', { description: 'a\u0000b\u001b[31m\u202ec\u200bd\ufeff' }, 'ab[31mcd'],
    ['no blanks', { title: '  T  ', description: ' \n ' }, 'T'],
  ])('is %s', async (_what, said, expected) => {
    identity = said;
    const system = await register();

    await test();

    expect(await described(system)).toBe(expected);
    expect(await systemRow(app, system.id)).toMatchObject({ description: expected });
  });

  it('stays empty once an admin has emptied it', async () => {
    identity = { description: 'First' };
    const system = await register();
    await test();
    const path = systemPath(system.resourceId, place.appId, place.versionId);
    expect((await app.request('PATCH', path, { body: { description: '' } })).status).toBe(200);
    await test();

    expect(await described(system)).toBe('');
  });

  it('is taken once and never overwrites one', async () => {
    identity = { description: 'First' };
    const empty = await register();
    const ours = await register('Ours');
    await test();
    identity = { description: 'Second' };
    await test();

    expect(await described(empty)).toBe('First');
    expect(await described(ours)).toBe('Ours');
  });

  it('comes with the name of who ran the test, and with an audit event, once', async () => {
    identity = { description: 'First' };
    const system = await register();
    const token = await app.tokenWith({
      given_name: 'Max',
      family_name: 'Muster',
      preferred_username: 'max',
    });
    const path = connectionTestPath('app', place.versionId);
    const body = { baseUrl: server.url, authorization: { type: 'NO_AUTH' } };
    await app.request('PATCH', path, { token, body });
    await test();

    expect(await systemRow(app, system.id)).toMatchObject({
      createdBy: { userName: 'jane.doe' },
      modifiedBy: { userName: 'max' },
    });
    expect((await syncEvents(system)).map(({ actor }) => actor.userName)).toEqual(['max']);
  });

  it('is what the audit event tells of when nothing else came of the test', async () => {
    identity = { description: 'First' };
    const system = await register();
    await test();

    expect((await syncEvents(system)).map(({ details }) => details)).toEqual([
      {
        added: [],
        changed: [],
        removed: [],
        returned: [],
        disabledForReview: [],
        takenOver: [],
        fields: ['description'],
      },
    ]);
  });
});
