import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SystemSecrets } from '../../../src/systems/secrets/system-secrets.js';
import { TestApp } from '../../support/app.js';
import { serviceAccount, systemPath } from '../../support/factories.js';
import { packageDocument } from '../../support/runtime/publish.js';
import { createdSystem, insertTools, newPlace, systemRow, toolRows, type Place } from '../systems/rows.js';
import { store, systemRows } from './rows.js';

const ACCOUNT = {
  type: 'SERVICE_ACCOUNT',
  configuration: { clientId: 'client-1', identityProviderUrl: 'https://sso.example.com/token' },
};
const MCP = {
  resourceName: 'Inventory',
  type: 'MCP',
  name: 'Inventory tools',
  baseUrl: 'https://mcp.example.com/mcp',
};
const REST = { resourceName: 'Scoring', type: 'REST', name: 'Scores', baseUrl: 'https://scores.example.com' };
const NOSQL = { resourceName: 'Documents', type: 'NOSQL_DB', name: 'Documents' };

describe('the systems of a package', () => {
  let app: TestApp;
  let place: Place;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    place = newPlace();
  });

  const deliver = async (...systems: Record<string, unknown>[]) => {
    const answer = await store(app, place, packageDocument(place.appId, { package: { systems } }));
    expect(answer.text).not.toContain('"errors"');
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const registered = (payload: Record<string, unknown> = {}) =>
    createdSystem(app, place, {
      resourceName: MCP.resourceName,
      payload: { baseUrl: MCP.baseUrl, ...payload },
    });

  it('become systems of all three types', async () => {
    await deliver({ ...MCP, authorization: ACCOUNT, description: 'Stock' }, REST, NOSQL);

    const rows = await systemRows(app, place);
    expect(rows).toMatchObject([
      {
        resourceName: 'Documents',
        nameKey: 'documents',
        type: 'NOSQL_DB',
        baseUrl: null,
        connectionKey: null,
      },
      {
        resourceName: 'Inventory',
        type: 'MCP',
        name: 'Inventory tools',
        description: 'Stock',
        baseUrl: MCP.baseUrl,
        authorizationType: 'SERVICE_ACCOUNT',
        clientId: 'client-1',
        clientSecret: null,
        identityProviderUrl: 'https://sso.example.com/token',
        connectionKey: expect.stringMatching(/^[0-9a-f]{64}$/),
        createdBy: { userName: 'jane.doe' },
      },
      { resourceName: 'Scoring', type: 'REST', baseUrl: REST.baseUrl, authorizationType: 'NO_AUTH' },
    ]);
    const ids = rows.flatMap(({ id, resourceId, resourceDefinitionId }) => [
      id,
      resourceId,
      resourceDefinitionId,
    ]);
    expect(new Set(ids).size).toBe(9);
  });

  it('are the same resource definition in every version, each with its own ids', async () => {
    await deliver(REST);
    const [first] = await systemRows(app, place);
    place = { ...place, versionId: 'v2' };
    await deliver({ ...REST, resourceName: 'SCORING' });
    const [second] = await systemRows(app, place);

    expect(second?.resourceDefinitionId).toBe(first?.resourceDefinitionId);
    expect(second?.id).not.toBe(first?.id);
    expect(second?.resourceId).not.toBe(first?.resourceId);
  });

  it('replace all REST and NOSQL_DB systems of the version, but leave other MCP systems', async () => {
    const other = await createdSystem(app, place, { resourceName: 'by-hand' });
    await deliver(MCP, REST, NOSQL);
    const { systems } = await deliver();

    expect(systems).toEqual({ added: [], changed: [], removed: ['Documents', 'Scoring'] });
    expect((await systemRows(app, place)).map(({ resourceName }) => resourceName)).toEqual([
      'by-hand',
      'Inventory',
    ]);
    expect(await systemRow(app, other.id)).not.toBeNull();
  });

  it('keep ids, secret, tools and their flags of a system that stays', async () => {
    const system = await registered({ authorization: serviceAccount() });
    const [tool] = await insertTools(app, system.id, [{ name: 'echo', enabled: false }]);
    const before = await systemRow(app, system.id);
    const { systems, warnings } = await deliver({
      ...MCP,
      resourceName: 'INVENTORY',
      name: 'New name',
      baseUrl: 'HTTPS://mcp.example.com:443/mcp',
      authorization: ACCOUNT,
    });

    expect(systems).toEqual({ added: [], changed: ['INVENTORY'], removed: [] });
    expect(warnings).toEqual([]);
    const after = await systemRow(app, system.id);
    expect(after).toMatchObject({
      id: system.id,
      resourceId: system.resourceId,
      resourceDefinitionId: system.resourceDefinitionId,
      resourceName: 'INVENTORY',
      name: 'New name',
      connectionKey: before?.connectionKey,
      createdAt: before?.createdAt,
    });
    // The secret is bound to the address as written, so it must also match after the spelling has changed.
    const secret = 'correct horse battery staple';
    expect(after !== null && app.nest.get(SystemSecrets).matches(after, secret)).toBe(true);
    expect(await toolRows(app, system.id)).toMatchObject([{ id: tool, enabled: false, present: true }]);
  });

  it('keep a description that a connection test filled', async () => {
    const system = await registered({ description: 'What the server says' });
    await deliver(MCP);
    expect(await systemRow(app, system.id)).toMatchObject({ description: 'What the server says' });
  });

  it.each([
    ['base URL', { baseUrl: 'https://elsewhere.example.com/mcp', authorization: ACCOUNT }],
    [
      'token endpoint',
      {
        authorization: {
          ...ACCOUNT,
          configuration: { ...ACCOUNT.configuration, identityProviderUrl: 'https://elsewhere.example.com' },
        },
      },
    ],
  ])('lose a secret that would be sent to another %s', async (_what, change) => {
    const system = await registered({ authorization: serviceAccount() });
    const { warnings } = await deliver({ ...MCP, ...change });

    expect(await systemRow(app, system.id)).toMatchObject({ clientSecret: null });
    expect(warnings).toMatchObject([
      {
        severity: 'warning',
        code: 'SECRET_DROPPED',
        file: 'systems/Inventory.json',
        element: '/authorization',
      },
    ]);
  });

  it('drop credentials under NO_AUTH', async () => {
    const system = await registered({ authorization: serviceAccount() });
    await deliver(MCP);
    expect(await systemRow(app, system.id)).toMatchObject({
      authorizationType: 'NO_AUTH',
      clientId: null,
      clientSecret: null,
      identityProviderUrl: null,
    });
  });

  it('report a missing secret, which can then be set in the version', async () => {
    const { warnings } = await deliver({ ...MCP, authorization: ACCOUNT });
    expect(warnings).toMatchObject([{ code: 'SECRET_MISSING', file: 'systems/Inventory.json' }]);
    const [row] = await systemRows(app, place);
    const update = await app.request(
      'PATCH',
      systemPath(row?.resourceId ?? '', place.appId, place.versionId),
      { body: { authorization: { type: 'SERVICE_ACCOUNT', configuration: { clientSecret: 'set later' } } } },
    );
    expect(update.status).toBe(200);

    const again = await deliver({ ...MCP, authorization: ACCOUNT });
    expect(again).toMatchObject({ changed: false, warnings: [] });
    expect((await systemRows(app, place))[0]?.clientSecret).toEqual(expect.any(String));
  });

  it('must not contain a secret', async () => {
    const secret = { ...ACCOUNT, configuration: { ...ACCOUNT.configuration, clientSecret: 'canary' } };
    const systems = [{ ...MCP, authorization: secret }];
    const { status, body, text } = await store(
      app,
      place,
      packageDocument(place.appId, { package: { systems } }),
    );

    expect(status).toBe(400);
    expect(body.problems).toMatchObject([{ code: 'SECRET_IN_PACKAGE', file: 'systems/Inventory.json' }]);
    expect(text).not.toContain('canary');
    expect(await systemRows(app, place)).toEqual([]);
  });

  it('are replaced when they change their type', async () => {
    const system = await registered({ authorization: serviceAccount() });
    const { systems } = await deliver({ ...REST, resourceName: MCP.resourceName });
    const [row] = await systemRows(app, place);

    expect(systems).toEqual({ added: ['Inventory'], changed: [], removed: ['Inventory'] });
    expect(row).toMatchObject({ type: 'REST', clientSecret: null });
    expect(row?.resourceDefinitionId).toBe(system.resourceDefinitionId);
    expect(row?.id).not.toBe(system.id);
    expect(await systemRow(app, system.id)).toBeNull();
  });
});
