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

/** Information that a server provides about itself. */
interface Identity {
  title?: string;
  description?: string;
  instructions?: string;
}

describe('the description of a system without one, taken from its server', () => {
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
    ['its title, but never its instructions', { title: 'T', instructions: 'I' }, 'T'],
    ['nothing', {}, ''],
    ['any characters', { description: 'Lager 📦 在庫 𠜎\n\tمخزون' }, 'Lager 📦 在庫 𠜎\n\tمخزون'],
    ['no more than 2,000 characters', { description: 'd'.repeat(100_000) }, 'd'.repeat(2_000)],
    ['no split surrogate pairs', { description: `x${'📦'.repeat(2_000)}` }, `x${'📦'.repeat(999)}`],
    [
      'no control or invisible characters',
      { description: 'a\u0000b\u001b[31m\u202ec\u200bd\ufeff' },
      'ab[31mcd',
    ],
    ['no surrounding whitespace', { title: '  T  ', description: ' \n ' }, 'T'],
  ])('is %s', async (_what, provided, expected) => {
    identity = provided;
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

  it('is set once and never overwritten', async () => {
    identity = { description: 'First' };
    const empty = await register();
    const ours = await register('Ours');
    await test();
    identity = { description: 'Second' };
    await test();

    expect(await described(empty)).toBe('First');
    expect(await described(ours)).toBe('Ours');
  });

  it('is recorded once with the user who ran the test, in the system and in an audit event', async () => {
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

  it('is in the audit event even if nothing else changed', async () => {
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
