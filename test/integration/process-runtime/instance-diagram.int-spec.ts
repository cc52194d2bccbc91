import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InstanceDiagramDto } from '../../../src/runtime/reading/instance.response.dto.js';
import { TestApp } from '../../support/app.js';
import { taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { executed, instancePath, started } from '../../support/runtime/runtime-client.js';

const BPMN = taskProcess('plain', userTask('a'), userTask('b'));
let app: TestApp;
let published: Published;

beforeAll(async () => {
  app = await TestApp.shared({ JOBS_CONCURRENCY: '0' });
  published = await publish(app, { bpmn: BPMN });
});
afterAll(() => app.close());

describe.each(['bpmn', 'diagram'])('GET /rtm/api/runtime/process-instance/{uuid}/%s', (what) => {
  it('answers 401, 403, 404 and 400', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const john = await app.tokenWith({ sub: 'john', scope: 'openid' });
    const get = (name: string, token?: string | null) =>
      app.request('GET', `${instancePath(name)}/${what}`, token === undefined ? {} : { token });

    expect((await get(id, null)).status).toBe(401);
    expect((await get(id, john)).status).toBe(403);
    expect((await get(uuid())).status).toBe(404);
    expect((await get('no%20uuid')).status).toBe(400);
  });
});

describe('GET /rtm/api/runtime/process-instance/{uuid}/bpmn', () => {
  it('returns the file as it was delivered', async () => {
    const { uuid: id } = await started(app, published, 'plain', {});
    const { status, text, headers } = await app.request('GET', `${instancePath(id)}/bpmn`);

    expect({ status, text }).toEqual({ status: 200, text: BPMN });
    expect(headers.get('content-type')).toMatch(/^application\/xml/);
  });
});

describe('GET /rtm/api/runtime/process-instance/{uuid}/diagram', () => {
  it('returns the file and the positions of the tokens', async () => {
    const { uuid: id, token } = await started(app, published, 'plain', {});
    const get = () => app.request<InstanceDiagramDto>('GET', `${instancePath(id)}/diagram`);

    expect((await get()).body).toEqual({
      bpmn: BPMN,
      positions: [
        { nodeId: token.currentNodeId, bpmnElementId: 'a', tokenUuid: token.uuid, state: 'ACTIVE' },
      ],
    });
    await executed(app, id, token.uuid, ui('a'), {});
    expect((await get()).body.positions).toMatchObject([{ bpmnElementId: 'b' }]);
    await executed(app, id, token.uuid, ui('b'), {});
    expect((await get()).body.positions).toEqual([]);
  });
});
