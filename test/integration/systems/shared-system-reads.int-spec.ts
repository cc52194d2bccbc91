import type { Logger } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SystemKey } from '../../../src/systems/model/system.types.js';
import { SystemNotFoundError } from '../../../src/systems/model/systems.errors.js';
import { SystemsService } from '../../../src/systems/registration/systems.service.js';
import { TestApp } from '../../support/app.js';
import { connectionTestPath } from '../../support/factories.js';
import { sendResult, startScriptedMcp, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import { createdSystem, newPlace, type Place } from './rows.js';

const tools = ['first', 'second'].map((name) => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
}));

describe('concurrent reads of systems', () => {
  let app: TestApp;
  let server: ScriptedMcpPeer;
  let systems: SystemsService;
  let place: Place;
  let keys: SystemKey[];
  let statements: string[] = [];

  beforeAll(async () => {
    app = await TestApp.shared({ JOBS_CONCURRENCY: '0', 'databaseLimits.groups': '1' });
    server = await startScriptedMcp({ list: ({ id, response }) => sendResult(response, id, { tools }) });
    systems = app.nest.get(SystemsService);
    app.dataSource.logger = {
      logQuery: (query: string) => void statements.push(query),
      logQueryError: () => undefined,
    } as unknown as Logger;
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });
  beforeEach(async () => {
    place = newPlace();
    const payload = { baseUrl: server.url };
    const created = [
      await createdSystem(app, place, { payload }),
      await createdSystem(app, place, { payload }),
      await createdSystem(app, place),
    ];
    const body = { baseUrl: server.url, authorization: { type: 'NO_AUTH' } };
    const { appId, versionId } = place;
    expect((await app.request('PATCH', connectionTestPath(appId, versionId), { body })).status).toBe(200);
    keys = created.map(({ resourceId }) => ({ appId, appVersionId: versionId, resourceId }));
  });

  it('share a statement, and return the same as separate reads', async () => {
    const alone = [];
    for (const key of keys) {
      alone.push(await systems.details(key));
    }
    expect(alone.map(({ system }) => system.tools.map(({ name }) => name))).toEqual([
      ['first', 'second'],
      ['first', 'second'],
      [],
    ]);
    statements = [];
    expect(await Promise.all(keys.map((key) => systems.details(key)))).toEqual(alone);
    expect(statements).toHaveLength(1);
    expect(await Promise.all(keys.map((key) => systems.tag(key)))).toEqual(alone.map(({ tag }) => tag));
    expect(statements).toHaveLength(2);
  });

  it('succeed even if others in the batch are not found', async () => {
    const [first, second] = keys as [SystemKey, SystemKey];
    const requested = [
      { ...first, appId: 'other' },
      first,
      { ...second, resourceId: uuid() },
      { ...first, appVersionId: 'v2' },
      second,
    ];
    statements = [];
    const outcomes = await Promise.allSettled(requested.map((key) => systems.details(key)));
    const absent = { status: 'rejected', reason: expect.any(SystemNotFoundError) };
    expect(outcomes).toMatchObject([
      absent,
      { value: { system: { resourceId: first.resourceId } } },
      absent,
      absent,
      { value: { system: { resourceId: second.resourceId } } },
    ]);
    expect(statements).toHaveLength(1);
  });
});
