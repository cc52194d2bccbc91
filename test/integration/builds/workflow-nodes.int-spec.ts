import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import {
  deliveryPath,
  packageDocument,
  sequence,
  mapping,
  workflowOf,
} from '../../support/runtime/publish.js';
import { auditRows, createdSystem, newPlace, type Place } from '../systems/rows.js';
import { build, commit, store, systemRows } from './rows.js';
import { agentNode, changeNode, getNode, nodePath, workflowsPath, type Node } from './workflow-nodes.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let app: TestApp;
let place: Place;
beforeAll(async () => {
  app = await TestApp.shared();
});
afterAll(() => app.close());
beforeEach(() => {
  place = newPlace();
});

const delivered = async (...workflows: object[]) => {
  const { status, text } = await store(app, place, packageDocument(place.appId, { package: { workflows } }));
  expect([status, text]).toEqual([200, text]);
};
const read = async () =>
  (await app.request('GET', `${deliveryPath(place.appId, place.versionId)}/package`)).body;
const create = (body: unknown, query = '', workflow = 'flow') =>
  app.request<Node>('POST', `${nodePath(place, workflow)}${query}`, { body });
const refusedCodes = (body: unknown) =>
  (body as { problems: { code: string }[] }).problems.map(({ code }) => code);
const lastEvent = async () => (await auditRows(app, place)).at(-1);

describe('GET /resource/app/{appId}/app-version/{versionId}/workflow', () => {
  it('lists the workflows of the package, and none without a package', async () => {
    expect((await app.request('GET', workflowsPath(place))).body).toEqual({ workflows: [] });
    await delivered(workflowOf('one', [], { description: 'First' }), workflowOf('two', [mapping('a', 1)]));
    const { status, body } = await app.request('GET', workflowsPath(place));
    expect(status).toBe(200);
    const ids = {
      resourceId: expect.stringMatching(UUID),
      resourceDefinitionId: expect.stringMatching(UUID),
    };
    expect(body).toEqual({
      workflows: [
        { name: 'one', description: 'First', nodeCount: 2, ...ids },
        { name: 'two', description: '', nodeCount: 3, ...ids },
      ],
    });
  });

  it('returns a workflow with its nodes, ignoring the case of its name', async () => {
    const inputSchema = { type: 'object', required: ['a'] };
    await delivered(workflowOf('Flow_(1).[2]', [mapping('a', 1)], { inputSchema }));
    const path = `${workflowsPath(place)}/${encodeURIComponent('flow_(1).[2]')}`;
    const { status, body } = await app.request<{ nodes: Node[] }>('GET', path);
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'Flow_(1).[2]', nodeCount: 3, inputSchema, outputSchema: null });
    expect(body.nodes.map(({ id }) => id)).toEqual(['start', 'a', 'end']);
    const manifest = await commit(app, place).then(() => build(app, place));
    expect(manifest.body.resources).toMatchObject([
      { name: 'Flow_(1).[2]', resourceId: (body as Record<string, unknown>)['resourceId'] },
    ]);
  });

  it('answers 404 for an unknown workflow and 400 for a malformed name', async () => {
    await delivered(workflowOf('flow'));
    expect((await app.request('GET', `${workflowsPath(place)}/other`)).status).toBe(404);
    expect((await app.request('GET', `${workflowsPath(place)}/a%20b`)).status).toBe(400);
    expect((await app.request('GET', `${workflowsPath(newPlace())}/flow`)).status).toBe(404);
  });
});

describe('GET /resource/app/{appId}/app-version/{versionId}/workflow/{workflowName}/node/{nodeId}', () => {
  it('returns every member of the contract, with references by definition id', async () => {
    const systems = [
      { resourceName: 'Stock', type: 'MCP', name: 'Stock', baseUrl: 'https://mcp.example.com' },
    ];
    const agent = agentNode(
      { inputBody: '{ "item": "${item}" }', layoutOptions: { x: 1.5, y: -2 } },
      {
        aiSubType: 'sub',
        mcpServers: [{ resourceName: 'stock' }],
      },
    );
    const user = await app.tokenWith({ given_name: 'Ann', act: { sub: 'helper' } });
    const document = packageDocument(place.appId, {
      package: { systems, workflows: [workflowOf('flow', [agent as never])] },
    });
    await app.request('PUT', `${deliveryPath(place.appId, place.versionId)}/package`, {
      body: document,
      token: user,
    });

    const { status, body, headers } = await getNode(app, place, 'flow', 'agent');
    expect(status).toBe(200);
    expect(headers.get('etag')).toMatch(/^"[0-9a-f]{64}"$/);
    const person = { firstName: 'Ann', impersonatingUser: { userName: 'helper' } };
    expect(body).toEqual({
      id: 'agent',
      svcUuid: expect.stringMatching(UUID),
      type: 'CUSTOM_AGENT',
      name: 'Ask',
      layoutOptions: { x: 1.5, y: -2 },
      conditions: [],
      outgoingSequences: [sequence('agent', 'end')],
      inputBody: '{ "item": "${item}" }',
      outputBody: null,
      payload: null,
      responseKey: 'answer',
      aiOptions: {
        aiType: 'CUSTOM_AGENT',
        aiSubType: 'sub',
        operationPrompt: 'Is ${item} in stock?',
        exampleOutputJsonSchema: { type: 'object', properties: { inStock: { type: 'boolean' } } },
        mcpServers: [{ resourceDefinitionId: expect.stringMatching(UUID), appId: place.appId }],
      },
      workflowResourceId: expect.stringMatching(UUID),
      subWorkflowResourceDefinitionId: null,
      subWorkflowNodeType: null,
      createdDate: expect.stringMatching(TIME),
      modifiedDate: body.createdDate,
      createdBy: expect.objectContaining({ firstName: 'Ann' }),
      modifiedBy: body['createdBy'],
    });
    expect(body['createdBy']).toMatchObject(person);
  });

  it('ignores dates and users in a package', async () => {
    const stamps = { createdDate: '1999-01-01T00:00:00.000Z', createdBy: { firstName: 'Mallory' } };
    await delivered(workflowOf('flow', [{ ...mapping('a', 1), ...stamps, workflowResourceId: 'x' }]));
    const { body } = await getNode(app, place, 'flow', 'a');
    expect(body.createdDate > '2020').toBe(true);
    expect(body['createdBy']).not.toMatchObject({ firstName: 'Mallory' });
    expect(body['workflowResourceId']).toMatch(UUID);
  });

  it('keeps dates and users of nodes that another delivery does not change', async () => {
    await delivered(workflowOf('flow', [mapping('a', 1), mapping('b', 1)]));
    const [a, b] = [await getNode(app, place, 'flow', 'a'), await getNode(app, place, 'flow', 'b')];
    await delivered(workflowOf('flow', [mapping('a', 1), mapping('b', 2)]));
    expect((await getNode(app, place, 'flow', 'a')).body).toEqual(a.body);
    const changed = (await getNode(app, place, 'flow', 'b')).body;
    expect(changed.createdDate).toBe(b.body.createdDate);
    expect(changed.modifiedDate > b.body.modifiedDate).toBe(true);
  });

  it('answers 404 for an unknown node and 400 for a malformed id', async () => {
    await delivered(workflowOf('flow'));
    expect((await getNode(app, place, 'flow', 'other')).body).toMatchObject({
      message: 'Workflow node not found.',
    });
    expect((await getNode(app, place, 'other', 'start')).body).toMatchObject({
      message: 'Workflow not found.',
    });
    expect((await getNode(app, place, 'flow', 'a%20b')).status).toBe(400);
  });
});

describe('POST /resource/app/{appId}/app-version/{versionId}/workflow/{workflowName}/node', () => {
  it('inserts a node into a sequence and fills in missing members', async () => {
    await delivered(workflowOf('flow'));
    const { status, body, headers } = await create(
      { type: 'DATA_MAPPING', name: 'New', inputBody: '1', responseKey: 'x' },
      '?onSequence=start-end',
    );
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(nodePath(place, 'flow', body.id));
    expect(body).toMatchObject({
      id: expect.stringMatching(UUID),
      svcUuid: expect.stringMatching(UUID),
      layoutOptions: { x: 0, y: 0 },
      outgoingSequences: [{ id: expect.stringMatching(UUID), sourceNodeId: body.id, targetNodeId: 'end' }],
    });
    const stored = await getNode(app, place, 'flow', body.id);
    expect(stored.body).toEqual(body);
    expect(stored.headers.get('etag')).toBe(headers.get('etag'));
    expect((await getNode(app, place, 'flow', 'start')).body.outgoingSequences).toEqual([
      { id: 'start-end', sourceNodeId: 'start', targetNodeId: body.id },
    ]);
    expect(await lastEvent()).toMatchObject({
      action: 'workflow-node.create',
      outcome: 'ok',
      details: { workflow: 'flow', node: body.id, type: 'DATA_MAPPING' },
    });
  });

  it('lets an agent use a system that was registered by hand, and refuses the commit once that is deleted', async () => {
    await delivered(workflowOf('flow'));
    const system = await createdSystem(app, place, { resourceName: 'Stock' });
    const mcpServers = [{ resourceDefinitionId: system.resourceDefinitionId, appId: place.appId }];
    const { status, body } = await create(agentNode({}, { mcpServers }), '?onSequence=start-end');
    expect(status).toBe(201);
    expect(body).toMatchObject({ aiOptions: { mcpServers } });
    const path = `${deliveryPath(place.appId, place.versionId)}/rt/system/ri/${system.resourceId}/integration/api/systems`;
    expect((await app.request('DELETE', path)).status).toBe(200);
    expect(await commit(app, place)).toMatchObject({ status: 409, body: { details: 'Stock' } });
    await createdSystem(app, place, { resourceName: 'Stock' });
    expect((await commit(app, place)).status).toBe(200);
    expect((await build(app, place)).status).toBe(201);
  });

  it('updates the conditions of the branch that it is inserted into, and leaves an END without sequences', async () => {
    const fork = {
      id: 'fork',
      type: 'CONDITION',
      conditions: [
        { id: 'yes', expression: 'a == 1', nextNodeId: 'one', order: 1 },
        { id: 'no', nextNodeId: 'end', order: 2, isDefault: true },
      ],
      outgoingSequences: [sequence('fork', 'one'), sequence('fork', 'end')],
    };
    await delivered(workflowOf('flow', [fork, mapping('one', 1)]));
    const payload = { errorCode: 'REJECTED' };
    const stop = { id: 'stop', type: 'END', name: 'Stop' };
    const wrong = await create({ ...stop, payload: { ...payload, more: 1 } }, '?onSequence=fork-end');
    expect([wrong.status, refusedCodes(wrong.body)]).toEqual([400, ['PAYLOAD_INVALID']]);
    const other = await create({ ...stop, payload }, '?onSequence=fork-end');
    expect([other.status, other.body['payload']]).toEqual([201, payload]);
    expect(other.body.outgoingSequences).toEqual([]);
    expect((await getNode(app, place, 'flow', 'fork')).body).toMatchObject({
      conditions: [{ nextNodeId: 'one' }, { nextNodeId: 'stop' }],
      outgoingSequences: [{ targetNodeId: 'one' }, { targetNodeId: 'stop' }],
    });
  });

  it('reports all problems at once and stores nothing', async () => {
    await delivered(workflowOf('flow'));
    const before = await read();
    const { status, body } = await create({
      id: 'a',
      type: 'DATA_MAPPING',
      name: 'start',
      responseKey: '..',
      outgoingSequences: [sequence('a', 'nowhere')],
    });
    expect(status).toBe(400);
    expect(refusedCodes(body)).toEqual(
      expect.arrayContaining([
        'NODE_NAME_NOT_UNIQUE',
        'NODE_NOT_FOUND',
        'NODE_UNREACHABLE',
        'EXPRESSION_INVALID',
        'INPUT_BODY_MISSING',
      ]),
    );
    expect(await read()).toEqual(before);
    expect(await lastEvent()).toMatchObject({ action: 'package.store' });
  });

  it.each([
    ['an unknown member', { id: 'a', type: 'END', name: 'A', extra: 1 }, ''],
    ['an id that is not text', { id: 7, type: 'END', name: 'A' }, ''],
    ['an unknown sequence', { id: 'a', type: 'END', name: 'A' }, '?onSequence=other'],
    ['a malformed sequence id', { id: 'a', type: 'END', name: 'A' }, '?onSequence=a%20b'],
    ['an unknown system', agentNode({}, { mcpServers: [{ resourceName: 'x' }] }), '?onSequence=start-end'],
  ])('answers 400 for %s', async (_what, body, query) => {
    await delivered(workflowOf('flow'));
    expect((await create(body, query)).status).toBe(400);
  });

  it('answers 404 before it parses the body, and 409 for an id that is taken and for a committed version', async () => {
    await delivered(workflowOf('flow'));
    const broken = { rawBody: '{', headers: { 'content-type': 'application/json' } };
    expect((await app.request('POST', nodePath(place, 'other'), broken)).status).toBe(404);
    expect((await app.request('POST', nodePath(place, 'flow'), broken)).status).toBe(400);
    expect((await create({ id: 'end', type: 'END', name: 'Other' })).status).toBe(409);
    await commit(app, place);
    const late = await create(mapping('a', 1), '?onSequence=start-end');
    expect(late.status).toBe(400);
    expect((await create({ ...mapping('a', 1), name: 'a' }, '?onSequence=start-end')).status).toBe(409);
  });

  it('adds nodes of concurrent callers', async () => {
    await delivered(workflowOf('one'), workflowOf('two'), workflowOf('three'));
    const answers = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        create({ ...mapping('a', 1), name: 'a' }, '?onSequence=start-end', name),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    for (const name of ['one', 'two', 'three']) {
      expect((await getNode(app, place, name, 'a')).status).toBe(200);
    }
  });

  it('does not change the systems of the version', async () => {
    const system = { resourceName: 'Stock', type: 'MCP', name: 'Stock', baseUrl: 'https://mcp.example.com' };
    const document = { systems: [system], workflows: [workflowOf('flow')] };
    await store(app, place, packageDocument(place.appId, { package: document }));
    const [stored] = await systemRows(app, place);
    const path = `${deliveryPath(place.appId, place.versionId)}/rt/system/ri/${stored?.resourceId}/integration/api/systems`;
    expect((await app.request('PATCH', path, { body: { name: 'Renamed' } })).status).toBe(200);
    expect((await create({ ...mapping('a', 1), name: 'a' }, '?onSequence=start-end')).status).toBe(201);
    expect(await systemRows(app, place)).toMatchObject([{ name: 'Renamed' }]);
  });
});

describe('PUT /resource/app/{appId}/app-version/{versionId}/workflow/{workflowName}/node/{nodeId}', () => {
  const put = (body: unknown, headers?: Record<string, string>) =>
    changeNode(
      app,
      'PUT',
      nodePath(place, 'flow', 'a'),
      headers === undefined ? { body } : { body, headers },
    );

  beforeEach(() => delivered(workflowOf('flow', [mapping('a', 1)])));

  it('changes the node, its modification date and its author', async () => {
    const { body: before } = await getNode(app, place, 'flow', 'a');
    const token = await app.tokenWith({ given_name: 'Ann', sub: 'ann' });
    const { headers } = await getNode(app, place, 'flow', 'a');
    const { status, body } = await app.request<Node>('PUT', nodePath(place, 'flow', 'a'), {
      body: { ...before, name: 'Other', inputBody: '2' },
      token,
      headers: { 'if-match': headers.get('etag') ?? '' },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...before,
      name: 'Other',
      inputBody: '2',
      modifiedDate: body.modifiedDate,
      modifiedBy: expect.objectContaining({ firstName: 'Ann' }),
    });
    expect(body.modifiedDate > before.modifiedDate).toBe(true);
    expect((await getNode(app, place, 'flow', 'a')).body).toEqual(body);
    expect(await lastEvent()).toMatchObject({
      action: 'workflow-node.update',
      details: { workflow: 'flow', node: 'a', type: 'DATA_MAPPING' },
    });
  });

  it('sets and removes the BPMN error code of an END', async () => {
    const path = nodePath(place, 'flow', 'end');
    const { body: before } = await getNode(app, place, 'flow', 'end');
    const put = (payload: unknown) => changeNode(app, 'PUT', path, { body: { ...before, payload } });
    const changed = await put({ errorCode: 'REJECTED' });
    expect([changed.status, changed.body['payload']]).toEqual([200, { errorCode: 'REJECTED' }]);
    expect((await getNode(app, place, 'flow', 'end')).body).toEqual(changed.body);
    expect(await put({ errorCode: ' ' })).toMatchObject({
      status: 400,
      body: { problems: [{ code: 'PAYLOAD_INVALID' }] },
    });
    expect(await put(before['payload'])).toMatchObject({ status: 200, body: { payload: before['payload'] } });
  });

  it('changes nothing when the node is sent as it was read', async () => {
    const { body: before } = await getNode(app, place, 'flow', 'a');
    expect((await put(before)).body).toEqual(before);
  });

  it('changes nothing when texts that the package leaves out are sent as empty', async () => {
    const { body: before } = await getNode(app, place, 'flow', 'start');
    expect(before).toMatchObject({ inputBody: '', responseKey: '' });
    const { body } = await changeNode(app, 'PUT', nodePath(place, 'flow', 'start'), { body: before });
    expect(body).toEqual(before);
  });

  it('answers 409 to a stale If-Match', async () => {
    const { headers, body } = await getNode(app, place, 'flow', 'a');
    const tag = { 'if-match': headers.get('etag') ?? '' };
    const [one, other] = await Promise.all([
      put({ ...body, inputBody: '2' }, tag),
      put({ ...body, inputBody: '3' }, tag),
    ]);
    expect(new Set([one.status, other.status])).toEqual(new Set([200, 409]));
    const winner = one.status === 200 ? one : other;
    expect((await getNode(app, place, 'flow', 'a')).body).toEqual(winner.body);
    expect(await lastEvent()).toMatchObject({
      action: 'workflow-node.update',
      outcome: 'error',
      details: { code: 'WORKFLOW_NODE_CHANGED' },
    });
    expect((await put({ ...body, inputBody: '4' }, { 'if-match': '*' })).status).toBe(200);
  });

  it('accepts lists of tags, including weakened ones, and answers 400 to malformed tags', async () => {
    const { headers, body } = await getNode(app, place, 'flow', 'a');
    const etag = headers.get('etag') ?? '';
    const change = async (tags: string, inputBody = body['inputBody']) =>
      (await put({ ...body, inputBody }, { 'if-match': tags })).status;
    for (const other of ['""', 'W/""', `"W/${etag.slice(1)}`, '"a" , "," , W/"b"']) {
      expect([other, await change(other)]).toEqual([other, 409]);
    }
    for (const malformed of [
      etag.slice(1, -1),
      `*, ${etag}`,
      'W/*',
      `w/${etag}`,
      `W/ ${etag}`,
      `W/W/${etag}`,
      `${etag} "x"`,
      `${etag};`,
      '"',
      ',',
    ]) {
      expect([malformed, await change(malformed)]).toEqual([malformed, 400]);
    }
    for (const match of [etag, `W/${etag}`, `"x", W/${etag}`, `"a,b" ,, W/"x", ${etag}`]) {
      expect([match, await change(match)]).toEqual([match, 200]);
    }
    expect(await change(`W/${etag}`, '2')).toBe(200);
    expect(await change(`W/${etag}`, '3')).toBe(409);
  });

  it('answers 304 if If-None-Match names the current tag', async () => {
    const { headers } = await getNode(app, place, 'flow', 'a');
    const read = async (tag: string) =>
      app.request('GET', nodePath(place, 'flow', 'a'), {
        headers: { 'if-none-match': tag, 'cache-control': 'max-age=0' },
      });
    expect(await read(headers.get('etag') ?? '')).toMatchObject({ status: 304, text: '' });
    expect((await read('"other"')).status).toBe(200);
  });

  it('answers 400 without If-Match, for another id, and for a node that makes the workflow invalid', async () => {
    const { body } = await getNode(app, place, 'flow', 'a');
    const path = nodePath(place, 'flow', 'a');
    expect(await app.request('PUT', path, { body })).toMatchObject({
      status: 400,
      body: { details: 'If-Match: is required' },
    });
    expect((await put({ ...body, id: 'b' })).status).toBe(400);
    const wrong = await put({ ...body, outgoingSequences: [] });
    expect([wrong.status, refusedCodes(wrong.body)]).toEqual([
      400,
      ['NODE_WITHOUT_OUTGOING', 'NODE_UNREACHABLE'],
    ]);
    expect((await getNode(app, place, 'flow', 'a')).body).toEqual(body);
  });

  it('answers 404 before it parses the body, and 409 for a committed version', async () => {
    const broken = { rawBody: '{', headers: { 'content-type': 'application/json', 'if-match': '*' } };
    expect((await app.request('PUT', nodePath(place, 'flow', 'b'), broken)).status).toBe(404);
    const { body } = await getNode(app, place, 'flow', 'a');
    await commit(app, place);
    expect((await put({ ...body, inputBody: '2' })).status).toBe(409);
  });
});

describe('DELETE /resource/app/{appId}/app-version/{versionId}/workflow/{workflowName}/node/{nodeId}', () => {
  const remove = (id: string, headers?: Record<string, string>) =>
    changeNode(app, 'DELETE', nodePath(place, 'flow', id), headers === undefined ? {} : { headers });

  beforeEach(() => delivered(workflowOf('flow', [mapping('a', 1), mapping('b', 1)])));

  it('returns the node and connects its predecessor to its successor', async () => {
    const { body: before } = await getNode(app, place, 'flow', 'a');
    const { status, body } = await remove('a');
    expect([status, body]).toEqual([200, before]);
    expect((await getNode(app, place, 'flow', 'a')).status).toBe(404);
    expect((await getNode(app, place, 'flow', 'start')).body.outgoingSequences).toEqual([
      { id: 'start-a', sourceNodeId: 'start', targetNodeId: 'b' },
    ]);
    expect(await lastEvent()).toMatchObject({
      action: 'workflow-node.delete',
      details: { workflow: 'flow', node: 'a', type: 'DATA_MAPPING' },
    });
    await commit(app, place);
    expect((await build(app, place)).status).toBe(201);
  });

  it('accepts the tag as weakened by a compressing proxy, but no other', async () => {
    const etag = (await getNode(app, place, 'flow', 'a')).headers.get('etag') ?? '';
    for (const other of ['W/"other"', `"W/${etag.slice(1)}`]) {
      expect((await remove('a', { 'if-match': other })).status).toBe(409);
    }
    expect((await remove('a', { 'if-match': `w/${etag}` })).status).toBe(400);
    expect((await remove('a', { 'if-match': `W/${etag}` })).status).toBe(200);
    expect((await getNode(app, place, 'flow', 'a')).status).toBe(404);
  });

  it('answers 400 for a node that the workflow needs, and without If-Match', async () => {
    const refused = await remove('end');
    expect([refused.status, refusedCodes(refused.body)]).toEqual([400, ['NODE_NOT_FOUND', 'END_MISSING']]);
    expect((await remove('start')).status).toBe(400);
    expect((await app.request('DELETE', nodePath(place, 'flow', 'a'))).status).toBe(400);
    expect((await getNode(app, place, 'flow', 'end')).status).toBe(200);
  });

  it('answers 404, and 409 for a stale tag and a committed version', async () => {
    expect((await remove('other')).status).toBe(404);
    expect((await remove('a', { 'if-match': `"${'0'.repeat(64)}"` })).status).toBe(409);
    await commit(app, place);
    expect((await remove('a')).status).toBe(409);
  });
});
