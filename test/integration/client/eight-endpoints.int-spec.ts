import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connect,
  followInstance,
  ServiceError,
  type InstanceProgress,
  type SvcClient,
} from '../../../packages/client/src/index.js';
import { TestApp } from '../../support/app.js';
import { uniqueName } from '../../support/factories.js';
import { startToolListPeer, type ScriptedMcpPeer } from '../../support/peers/scripted-mcp.peer.js';
import { taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish } from '../../support/runtime/publish.js';

const GONE = '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10';
const WEB = { 'svc-platform': 'web' };

describe('the typed client', () => {
  let app: TestApp;
  let svc: SvcClient;
  let server: ScriptedMcpPeer;
  let version: { appId: string; versionId: string };

  beforeAll(async () => {
    app = await TestApp.shared();
    svc = connect({ url: app.url, token: () => app.issuer.sign({}) });
    server = await startToolListPeer([{ name: 'echo', inputSchema: { type: 'object' } }]);
    version = { appId: uniqueName('app'), versionId: 'v1' };
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });

  const systemBody = (resourceName: string) => ({
    action: 'CREATE' as const,
    resourceName,
    payload: {
      name: 'Inventory tools',
      type: 'MCP' as const,
      baseUrl: server.url,
      authorization: { type: 'NO_AUTH' as const },
    },
  });
  const created = async () => {
    const body = systemBody(uniqueName());
    return (await svc.createSystem({ path: version, body })).data;
  };
  const tested = () =>
    svc.testMcpConnection({
      path: version,
      body: { baseUrl: server.url, authorization: { type: 'NO_AUTH' } },
    });
  const published = () =>
    publish(app, { ...version, versionId: uniqueName('v'), bpmn: taskProcess('order', userTask('a')) });
  const started = async () => {
    const { appId, buildId } = await published();
    const path = { appId, buildId, processDefinitionName: 'order' };
    return (await svc.startProcess({ path, headers: WEB, body: { amount: 7 } })).data;
  };
  /** Returns the error that a call is rejected with. */
  const refusal = async (call: Promise<unknown>): Promise<ServiceError> => {
    const error = await call.then(() => null).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    return error as ServiceError;
  };

  it('1: creates an MCP system', async () => {
    const body = systemBody(uniqueName());
    const { data, response } = await svc.createSystem({ path: version, body });
    expect(response.status).toBe(201);
    expect(data).toMatchObject({ type: 'MCP', name: 'Inventory tools', baseUrl: server.url, tools: [] });

    const error = await refusal(svc.createSystem({ path: version, body }));
    expect(error).toMatchObject({
      status: 409,
      message: 'Name must be unique inside the project.',
      details: 'resourceName: is taken by another system of this version',
    });
    expect(error.requestId).toMatch(/^[\w-]{8,}$/);
  });

  it('2: tests a connection, and returns its failure in the response', async () => {
    const { data } = await tested();
    expect(data).toMatchObject({ status: 200, message: 'Connection successful', tools: [{ name: 'echo' }] });

    const away = { baseUrl: 'http://127.0.0.1:9/mcp', authorization: { type: 'NO_AUTH' as const } };
    const failed = await svc.testMcpConnection({ path: version, body: away });
    expect(failed.data).toMatchObject({ message: 'Connection failed: MCP server is unreachable' });

    const error = await refusal(
      svc.testMcpConnection({ path: version, body: { ...away, baseUrl: 'nowhere' } }),
    );
    expect(error).toMatchObject({ status: 400, message: 'Request validation failed.' });
    expect(error.details).toContain('baseUrl');
  });

  it('3: gets a system with its tools', async () => {
    const { resourceId } = await created();
    await tested();
    const path = { ...version, systemResourceId: resourceId };
    const { data } = await svc.getSystem({ path });
    expect(data).toMatchObject({ resourceId, tools: [{ name: 'echo', enabled: true }] });

    const missing = svc.getSystem({ path: { ...path, systemResourceId: GONE } });
    expect(await refusal(missing)).toMatchObject({ status: 404, message: 'System not found.' });
  });

  it('4: lists the systems of a version', async () => {
    const { resourceId } = await created();
    const { data } = await svc.listSystems({ path: version, query: { depTypes: 'LIB' } });
    expect(data.systems.find((system) => system.resourceId === resourceId)).toMatchObject({
      type: 'MCP',
      appId: version.appId,
      appVersionId: version.versionId,
    });

    const unauthorized = connect({ url: app.url, token: await app.issuer.sign({ scope: '' }) });
    expect(await refusal(unauthorized.listSystems({ path: version }))).toMatchObject({
      status: 403,
      message: 'Insufficient permissions to access Integration Management',
    });
  });

  it('5: switches a tool', async () => {
    const { resourceId, id } = await created();
    await tested();
    const system = await svc.getSystem({ path: { ...version, systemResourceId: resourceId } });
    const toolId = system.data.tools[0]?.id ?? '';
    const path = { ...version, systemResourceId: resourceId, systemId: id, toolId };
    const { data } = await svc.switchTool({ path, body: { enabled: false } });
    expect(data).toMatchObject({ status: 200, tool: { id: toolId, name: 'echo', enabled: false } });

    const missing = svc.switchTool({ path: { ...path, toolId: GONE }, body: { enabled: true } });
    expect(await refusal(missing)).toMatchObject({ status: 404 });
  });

  it('6: scans the platform', async () => {
    const { data } = await svc.discoverPlatform();
    expect(data.totalServices).toBe(data.healthyServices + data.unhealthyServices);
    expect(Date.parse(data.scanTimestamp)).toBeGreaterThan(0);

    const anonymous = connect({ url: app.url });
    expect(await refusal(anonymous.discoverPlatform())).toMatchObject({
      status: 401,
      message: 'Authentication required or failed.',
    });
    expect((await anonymous.getLiveness()).response.status).toBe(200);
  });

  it('7: starts a process', async () => {
    const { appId, buildId } = await published();
    const path = { appId, buildId, processDefinitionName: 'order' };
    const headers = { ...WEB, 'Idempotency-Key': uniqueName('key') };
    const first = await svc.startProcess({ path, headers, body: { amount: 7 } });
    expect(first.data).toMatchObject({ state: 'STARTED', buildId, processDefinitionName: 'order' });
    const again = await svc.startProcess({ path, headers, body: { amount: 7 } });
    expect(again.data.uuid).toBe(first.data.uuid);
    expect(again.response.headers.get('idempotent-replayed')).toBe('true');

    const missing = svc.startProcess({ path: { ...path, processDefinitionName: 'gone' }, headers: WEB });
    expect(await refusal(missing)).toMatchObject({ status: 404 });
  });

  it('8: executes a UI action', async () => {
    const { uuid } = await started();
    const { data: instance } = await svc.getProcessInstance({ path: { uuid } });
    const [token] = instance.tokens;
    const path = { processUuid: uuid, tokenUuid: token?.uuid ?? '', uiActionSvcUuid: ui('a') };
    expect(token?.uiActions.map(({ svcUuid }) => svcUuid)).toEqual([path.uiActionSvcUuid]);

    const unknown = svc.executeUiAction({ path: { ...path, uiActionSvcUuid: GONE }, body: {} });
    expect(await refusal(unknown)).toMatchObject({ status: 404 });
    const { data } = await svc.executeUiAction({ path, body: { amount: 8 } });
    expect(data).toMatchObject({ tokenUuid: path.tokenUuid, backAction: false, templatesSequence: null });
    const after = await svc.getProcessInstance({ path: { uuid } });
    expect(after.data).toMatchObject({ state: 'FINISHED', data: { amount: 8 } });
  });

  it('follows an instance to its end, also from a given event', async () => {
    const { uuid, tokens } = await started();
    const received: InstanceProgress[] = [];
    for await (const progress of followInstance(svc, uuid)) {
      received.push(progress);
      if (progress.event === 'instance') {
        const path = { processUuid: uuid, tokenUuid: tokens[0]?.uuid ?? '', uiActionSvcUuid: ui('a') };
        await svc.executeUiAction({ path, body: {} });
      }
    }
    expect(received[0]).toMatchObject({ event: 'instance', data: { uuid, data: { amount: 7 } } });
    expect(received.at(-1)).toMatchObject({ event: 'end', data: { uuid, state: 'FINISHED' } });
    const { data } = await svc.getProcessInstanceHistory({ path: { uuid } });
    const seen = received.flatMap((progress) => (progress.event === 'history' ? [progress.data] : []));
    expect(seen.length).toBeGreaterThan(1);
    expect(data.events).toEqual(expect.arrayContaining(seen));

    const rest: InstanceProgress[] = [];
    for await (const progress of followInstance(svc, uuid, { lastEventId: '2' })) {
      rest.push(progress);
    }
    expect(rest[0]).toMatchObject({ event: 'history', id: '3' });
    expect(rest.at(-1)?.event).toBe('end');
  });

  it('does not follow an unknown instance', async () => {
    expect(await refusal(followInstance(svc, GONE).next())).toMatchObject({
      status: 404,
      message: 'Process instance not found.',
    });
  });
});
