import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { packageDocument } from '../../support/runtime/publish.js';
import { auditRows, newPlace, type Place } from '../systems/rows.js';
import { mapping, workflowOf } from '../../support/runtime/workflow-nodes.js';
import { build, commit, store } from './rows.js';
import { changeNode, getNode, nodePath, type Node } from './workflow-nodes.js';

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
const refusedCodes = (body: unknown) =>
  (body as { problems: { code: string }[] }).problems.map(({ code }) => code);
const lastEvent = async () => (await auditRows(app, place)).at(-1);

describe('PUT /resource/app/{appId}/app-version/{versionId}/workflow/{workflowName}/node/{nodeId}', () => {
  const put = (body: unknown, headers?: Record<string, string>) =>
    changeNode(
      app,
      'PUT',
      nodePath(place, 'flow', 'a'),
      headers === undefined ? { body } : { body, headers },
    );

  beforeEach(() => delivered(workflowOf('flow', [mapping('a', 1)])));

  it('changes the node and who changed it when', async () => {
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

  it('gives an END the code of a BPMN error, and takes it away', async () => {
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

  it('changes nothing when the node is sent back as it was read', async () => {
    const { body: before } = await getNode(app, place, 'flow', 'a');
    expect((await put(before)).body).toEqual(before);
  });

  it('changes nothing either when texts are missing that are shown as empty', async () => {
    const { body: before } = await getNode(app, place, 'flow', 'start');
    expect(before).toMatchObject({ inputBody: '', responseKey: '' });
    const { body } = await changeNode(app, 'PUT', nodePath(place, 'flow', 'start'), { body: before });
    expect(body).toEqual(before);
  });

  it('refuses with 409 who has not read the node as it is', async () => {
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

  it('takes a list of tags, also as a proxy weakens them, and refuses with 400 what is no tag', async () => {
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

  it('answers 304 to who has the node as it is', async () => {
    const { headers } = await getNode(app, place, 'flow', 'a');
    const read = async (tag: string) =>
      app.request('GET', nodePath(place, 'flow', 'a'), {
        headers: { 'if-none-match': tag, 'cache-control': 'max-age=0' },
      });
    expect(await read(headers.get('etag') ?? '')).toMatchObject({ status: 304, text: '' });
    expect((await read('"other"')).status).toBe(200);
  });

  it('answers 400 without If-Match, for another id, and for a node that the workflow cannot have', async () => {
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

  it('answers 404 before it looks at the body, and 409 for a committed version', async () => {
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

  it('answers the node and leads around it', async () => {
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

  it('takes the tag as proxies that compress write it, and no other', async () => {
    const etag = (await getNode(app, place, 'flow', 'a')).headers.get('etag') ?? '';
    for (const other of ['W/"other"', `"W/${etag.slice(1)}`]) {
      expect((await remove('a', { 'if-match': other })).status).toBe(409);
    }
    expect((await remove('a', { 'if-match': `w/${etag}` })).status).toBe(400);
    expect((await remove('a', { 'if-match': `W/${etag}` })).status).toBe(200);
    expect((await getNode(app, place, 'flow', 'a')).status).toBe(404);
  });

  it('answers 400 for a node that the workflow cannot be without, and 400 without If-Match', async () => {
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
