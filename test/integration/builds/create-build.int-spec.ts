import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DatabaseUnavailableError } from '../../../src/store/database.errors.js';
import { AuditAction } from '../../../src/audit/model/audit.types.js';
import { BuildDefinitionsService } from '../../../src/delivery/builds/contents/build-definitions.service.js';
import { Builds } from '../../../src/delivery/builds/storage/builds.repository.js';
import { BuildWarningsService } from '../../../src/delivery/builds/making/build-warnings.service.js';
import { BuildRepeatEntity, BuildSystemEntity } from '../../../src/delivery/builds/storage/build.entity.js';
import { ToolEntity } from '../../../src/systems/tools/storage/tool.entity.js';
import { TestApp } from '../../support/app.js';
import { serviceAccount } from '../../support/factories.js';
import { node, taskProcess, userTaskProcess } from '../../support/runtime/process-files.js';
import { appPath, deliveryPath, packageDocument, publish } from '../../support/runtime/publish.js';
import { auditRows, createdSystem, insertTools, newPlace, type Place } from '../systems/rows.js';
import {
  build,
  buildRows,
  commit,
  emptyWorkflow,
  graphOf,
  nodeRows,
  numbersOf,
  store,
  toolsOfBuild,
} from './rows.js';

const SHA256 = /^[0-9a-f]{64}$/;
const SYSTEMS = [
  { resourceName: 'Inventory', type: 'MCP', name: 'Tools', baseUrl: 'https://mcp.example.com/mcp' },
  { resourceName: 'Scoring', type: 'REST', name: 'Scores', baseUrl: 'https://scores.example.com' },
  { resourceName: 'Documents', type: 'NOSQL_DB', name: 'Documents' },
];

describe('POST /resource/app/{appId}/app-version/{versionId}/build', () => {
  let app: TestApp;
  let place: Place;
  beforeAll(async () => {
    app = await TestApp.start({ 'processLimits.cleanupSeconds': '1', 'jobLimits.pollMs': '50' });
  });
  afterAll(() => app.close());
  afterEach(() => vi.restoreAllMocks());
  beforeEach(() => {
    place = newPlace();
  });

  const document = (rest: Record<string, unknown> = {}) =>
    packageDocument(place.appId, { bpmn: userTaskProcess(), package: rest });
  const committed = async (body = document()) => {
    expect((await store(app, place, body)).status).toBe(200);
    expect((await commit(app, place)).status).toBe(200);
  };

  it('answers 201 with the contents of the build', async () => {
    await createdSystem(app, place, { resourceName: 'by-hand' });
    await committed(document({ systems: SYSTEMS, workflows: [emptyWorkflow('Score')] }));
    const { status, body, headers } = await build(app, place);

    expect(status).toBe(201);
    const location = headers.get('location') ?? '';
    expect(location).toBe(`/appmanager/api/resource/app/${place.appId}/build/${body.buildId}`);
    expect((await app.request('GET', location)).body).toMatchObject({ buildId: body.buildId });
    expect(body).toMatchObject({
      buildId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      buildStatus: 'COMMITTED',
      applicationId: place.appId,
      applicationVersionId: place.versionId,
      checksum: expect.stringMatching(SHA256),
      libraries: [],
    });
    expect(body.resources.map(({ resourceType, name }) => [resourceType, name])).toEqual([
      ['PROCESS', 'hello'],
      ['WORKFLOW', 'Score'],
      ['NOSQL_DB', 'Documents'],
      ['MCP', 'Inventory'],
      ['REST', 'Scoring'],
      ['MCP', 'by-hand'],
    ]);
    const ids = body.resources.flatMap(({ resourceId, resourceDefinitionId }) => [
      resourceId,
      resourceDefinitionId,
    ]);
    expect(new Set(ids).size).toBe(12);
    const read = await app.request('GET', `${appPath(place.appId)}/build/${body.buildId}`);
    expect({ ...read.body, warnings: expect.any(Array) }).toEqual(body);
    expect(body.warnings?.map(({ code }) => code)).toEqual(['SYSTEM_NEVER_TESTED', 'SYSTEM_NEVER_TESTED']);
    expect((await auditRows(app, place)).at(-1)).toMatchObject({
      action: 'build.create',
      details: { buildId: body.buildId, checksum: body.checksum },
    });
  });

  it('creates any number of builds of a version, which differ only in id and time', async () => {
    await committed(document({ systems: SYSTEMS }));
    const [one, two] = [await build(app, place), await build(app, place)];

    expect(two.body.buildId).not.toBe(one.body.buildId);
    expect(two.body.checksum).toBe(one.body.checksum);
    expect(two.body.resources).toEqual(one.body.resources);
    expect(await buildRows(app, place.appId)).toHaveLength(2);
  });

  describe('with an Idempotency-Key', () => {
    const call = (key: string, token?: string) =>
      app.request<Record<'buildId' | 'message' | 'details', string>>(
        'POST',
        `${deliveryPath(place.appId, place.versionId)}/build`,
        {
          headers: { 'idempotency-key': key },
          ...(token === undefined ? {} : { token }),
        },
      );

    it('creates one build for equal requests, even concurrent ones, and marks the replays', async () => {
      await committed();
      const atOnce = await Promise.all(Array.from({ length: 4 }, () => call('once')));
      const answers = [...atOnce, await call('once')];

      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1);
      const marks = answers.map(({ headers }) => headers.get('idempotent-replayed'));
      expect(marks.filter((mark) => mark === null)).toHaveLength(1);
      expect(marks.at(-1)).toBe('true');
      expect(await buildRows(app, place.appId)).toHaveLength(1);
      const events = await auditRows(app, place);
      expect(events.filter(({ action }) => action === AuditAction.BuildCreate)).toHaveLength(1);
    });

    it('creates another build for another key, caller or version', async () => {
      await committed();
      const other = await app.issuer.sign({ sub: 'somebody-else' });
      const first = await call('mine');
      const ids = [first, await call('other'), await call('mine', other)].map(({ body }) => body.buildId);
      place = { ...place, versionId: `${place.versionId}-2` };
      await committed();
      ids.push((await call('mine')).body.buildId);

      expect(new Set(ids).size).toBe(4);
    });

    it('can be reused after a refused request, and once its row is old', async () => {
      await store(app, place, document());
      expect((await call('later')).status).toBe(409);
      expect((await commit(app, place)).status).toBe(200);
      const made = await call('later');
      expect(made.headers.get('idempotent-replayed')).toBeNull();

      const repeats = app.dataSource.getRepository(BuildRepeatEntity);
      const { buildId } = made.body;
      await repeats.update({ buildId }, { createdAt: new Date(Date.now() - 8 * 86_400_000) });
      await expect.poll(() => repeats.countBy({ buildId })).toBe(0);
      expect((await call('later')).body.buildId).not.toBe(buildId);
    });

    it('rejects a malformed key', async () => {
      await committed();
      const { status, body } = await call('a key');
      expect([status, body.details]).toEqual([
        400,
        'Idempotency-Key: must be 1 to 255 printable ASCII characters without spaces',
      ]);
    });
  });

  it('gives a node the same number in every build of every version, and new nodes new ones', async () => {
    await committed();
    const first = await build(app, place);
    const numbers = await numbersOf(app, first.body.buildId, 'hello');
    const again = await build(app, place);
    expect(await numbersOf(app, again.body.buildId, 'hello')).toEqual(numbers);

    const longer = taskProcess('hello', node('userTask', 'approve'), node('userTask', 'check'));
    const later = await publish(app, { appId: place.appId, bpmn: longer });
    const { check, ...known } = await numbersOf(app, later.buildId, 'hello');
    expect(known).toEqual(numbers);
    expect(Object.values(numbers)).not.toContain(check);
    const { svcUuid } = await graphOf(app, later.buildId, 'hello');
    expect(await nodeRows(app, svcUuid)).toHaveLength(4);
  });

  it('numbers the nodes of each application separately', async () => {
    const [one, two] = [
      await publish(app, { bpmn: userTaskProcess() }),
      await publish(app, { bpmn: userTaskProcess() }),
    ];
    const numbers = [
      ...Object.values(await numbersOf(app, one.buildId, 'hello')),
      ...Object.values(await numbersOf(app, two.buildId, 'hello')),
    ];
    expect(new Set(numbers).size).toBe(6);
  });

  it('keeps definition and flag of every tool as they were when it was made', async () => {
    const system = await createdSystem(app, place, { resourceName: 'by-hand' });
    const [listed, off] = await insertTools(app, system.id, [
      {
        name: 'listed',
        inputSchema: { type: 'object', properties: { b: {}, a: {} } },
        outputSchema: { type: 'object' },
      },
      { name: 'off', enabled: false },
      { name: 'gone', present: false },
    ]);
    await committed();
    const { body } = await build(app, place);
    const before = await toolsOfBuild(app, body.buildId);
    expect(before).toMatchObject([
      {
        toolId: listed,
        systemId: system.id,
        name: 'listed',
        description: 'Does listed',
        inputSchema: { type: 'object', properties: { b: {}, a: {} } },
        outputSchema: { type: 'object' },
        annotations: null,
        enabled: true,
      },
      { toolId: off, name: 'off', enabled: false, outputSchema: null },
    ]);

    // The API rejects changes to a committed version, so the test changes the rows directly.
    await app.dataSource
      .getRepository(ToolEntity)
      .update(
        { systemId: system.id },
        { enabled: false, description: 'swapped', definitionHash: '1'.repeat(64) },
      );
    expect(await toolsOfBuild(app, body.buildId)).toEqual(before);
    const later = await build(app, place);
    expect(await toolsOfBuild(app, later.body.buildId)).toMatchObject([
      { name: 'listed', enabled: false, description: 'swapped' },
      { name: 'off', enabled: false },
    ]);
    expect(later.body.checksum).not.toBe(body.checksum);
  });

  it('contains the connections of systems, without their secrets', async () => {
    const system = await createdSystem(app, place, {
      resourceName: 'by-hand',
      payload: { authorization: serviceAccount() },
    });
    await committed();
    const { body, text } = await build(app, place);
    const rows = await app.dataSource.getRepository(BuildSystemEntity).findBy({ buildId: body.buildId });

    expect(rows).toEqual([
      {
        buildId: body.buildId,
        systemId: system.id,
        resourceId: system.resourceId,
        resourceDefinitionId: system.resourceDefinitionId,
        type: 'MCP',
        resourceName: 'by-hand',
        name: 'Inventory tools',
        description: '',
        baseUrl: 'https://mcp.example.com/mcp',
        authorizationType: 'SERVICE_ACCOUNT',
        clientId: 'client-1',
        identityProviderUrl: 'https://sso.example.com/token',
      },
    ]);
    expect(text).not.toMatch(/battery|client-1/);
  });

  it('completes the references of workflows by definition ids', async () => {
    const agent = {
      name: 'Ask',
      nodes: [
        {
          id: 'start',
          type: 'START',
          name: 'Start',
          outgoingSequences: [{ id: 's', sourceNodeId: 'start', targetNodeId: 'agent' }],
        },
        {
          id: 'agent',
          type: 'CUSTOM_AGENT',
          name: 'Agent',
          responseKey: 'answer',
          aiOptions: {
            aiType: 'CUSTOM_AGENT',
            operationPrompt: 'Find it.',
            exampleOutputJsonSchema: { type: 'object' },
            mcpServers: [{ resourceName: 'inventory' }],
          },
          outgoingSequences: [{ id: 't', sourceNodeId: 'agent', targetNodeId: 'end' }],
        },
        { id: 'end', type: 'END', name: 'End' },
      ],
    };
    await committed(document({ systems: SYSTEMS, workflows: [agent] }));
    const { body } = await build(app, place);
    const definitionId = body.resources.find(({ name }) => name === 'Inventory')?.resourceDefinitionId;
    const stored = await app.nest.get(BuildDefinitionsService).workflow(body.buildId, null, 'Ask');

    expect(stored.nodes[1]?.aiOptions?.mcpServers).toMatchObject([
      { appId: place.appId, resourceDefinitionId: definitionId },
    ]);
    const { resourceId, resourceDefinitionId } = body.resources.find(({ name }) => name === 'Ask') ?? {};
    expect(resourceDefinitionId).toEqual(expect.any(String));
    expect(stored).toMatchObject({ name: 'Ask', resourceId, resourceDefinitionId });
  });

  it('says that nothing was stored only if that is true', async () => {
    await committed();
    const path = `${deliveryPath(place.appId, place.versionId)}/build`;
    const outage = new DatabaseUnavailableError(new Error('away'));

    vi.spyOn(Builds, 'insert').mockRejectedValueOnce(outage);
    const before = await app.request('POST', path);
    expect([before.status, before.body['message']]).toEqual([
      503,
      'The database is not available. Nothing was stored; try again.',
    ]);
    expect(await buildRows(app, place.appId)).toEqual([]);

    vi.spyOn(app.nest.get(BuildWarningsService), 'of').mockRejectedValueOnce(outage);
    const after = await app.request('POST', path);
    expect([after.status, after.body['message']]).toEqual([
      500,
      'The server could not complete the request. What was asked for may have been stored.',
    ]);
    expect(after.headers.get('retry-after')).toBeNull();
    expect(await buildRows(app, place.appId)).toHaveLength(1);
  });

  it('answers 400 to a bad path', async () => {
    const { status, body } = await app.request('POST', `${deliveryPath('a b', 'v1')}/build`);
    expect(status).toBe(400);
    expect(body['details']).toContain('appId');
  });

  it('answers 404 for a version that does not exist and 409 for a draft', async () => {
    const missing = await build(app, place);
    expect(missing.status).toBe(404);
    await store(app, place, document());
    const draft = await app.request('POST', `${deliveryPath(place.appId, place.versionId)}/build`);
    expect(draft.status).toBe(409);
    expect(draft.body['message']).toBe('The application version is a draft: commit it first.');
    expect(await buildRows(app, place.appId)).toEqual([]);
  });
});
