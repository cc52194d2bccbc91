import { ApiClient, type Answer } from './api-client.js';
import { prove } from './proof.js';
import { APPS, type ResourceIds } from './rights-operations.js';

const TASK = 'a4c7c6a2-52c9-4b7c-9c8e-0f4f3c1f5a10';
const VERSION = 'v1';
/** The task is in a lane that requires the permission `clerk`. */
const PROCESS = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:svc="urn:svc:bpmn:1" id="file" targetNamespace="prove">
  <bpmn:process id="waits" name="waits" isExecutable="true">
    <bpmn:laneSet id="lanes"><bpmn:lane id="clerk" name="Clerk" svc:execute="clerk"><bpmn:flowNodeRef>task</bpmn:flowNodeRef></bpmn:lane></bpmn:laneSet>
    <bpmn:startEvent id="start"/>
    <bpmn:userTask id="task"><bpmn:extensionElements>
      <svc:actions><svc:action name="done" manual="true"/></svc:actions>
      <svc:uiActions><svc:uiAction uuid="${TASK}" name="done" action="done"/></svc:uiActions>
    </bpmn:extensionElements></bpmn:userTask>
    <bpmn:endEvent id="end"/>
    <bpmn:sequenceFlow id="one" sourceRef="start" targetRef="task"/>
    <bpmn:sequenceFlow id="two" sourceRef="task" targetRef="end"/>
  </bpmn:process>
</bpmn:definitions>`;
/** A process that stops immediately with an incident. */
const STOPPING = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" id="file" targetNamespace="prove">
  <bpmn:process id="stops" name="stops" isExecutable="true">
    <bpmn:startEvent id="start"/><bpmn:exclusiveGateway id="choice"/><bpmn:endEvent id="more"/><bpmn:endEvent id="less"/>
    <bpmn:sequenceFlow id="one" sourceRef="start" targetRef="choice"/>
    <bpmn:sequenceFlow id="two" sourceRef="choice" targetRef="more"><bpmn:conditionExpression>amount &gt; 1</bpmn:conditionExpression></bpmn:sequenceFlow>
    <bpmn:sequenceFlow id="three" sourceRef="choice" targetRef="less"><bpmn:conditionExpression>amount &lt;= 1</bpmn:conditionExpression></bpmn:sequenceFlow>
  </bpmn:process>
</bpmn:definitions>`;
const WORKFLOW = {
  name: 'double',
  nodes: [
    {
      id: 'start',
      name: 'start',
      type: 'START',
      outgoingSequences: [{ id: 's', sourceNodeId: 'start', targetNodeId: 'end' }],
    },
    { id: 'end', name: 'end', type: 'END', outgoingSequences: [] },
  ],
};

/** Returns the resource name of the only system of an application. */
export function serverOf(app: string): string {
  return `server${APPS.findIndex((one) => one === app)}`;
}

/** Delivers an application with a system, a running instance, an instance with an incident, and a workflow run. */
export async function deliverApplication(url: string, token: string, appId: string): Promise<ResourceIds> {
  const client = new ApiClient(url, token);
  const app = `/appmanager/api/resource/app/${appId}`;
  const version = `${app}/app-version/${VERSION}`;
  const runtime = `/rtm/api/runtime/app/${appId}/build`;
  const send = (...call: Parameters<ApiClient['send']>): Promise<Answer['body']> => sendOk(client, ...call);
  const system = await send('PATCH', `${version}/rt/system/integration/api/systems`, {
    action: 'CREATE',
    resourceName: serverOf(appId),
    payload: {
      name: 'Server',
      type: 'MCP',
      baseUrl: `https://127.0.0.1:9/${appId}`,
      authorization: { type: 'NO_AUTH' },
    },
  });
  await send('PUT', `${version}/package`, {
    application: { formatVersion: 1, appId, name: appId },
    processes: [
      { file: 'processes/waits.bpmn', bpmn: PROCESS },
      { file: 'processes/stops.bpmn', bpmn: STOPPING },
    ],
    workflows: [WORKFLOW],
  });
  await send('POST', `${version}/commit`, {});
  const { buildId } = await send('POST', `${version}/build`, {});
  await send('PUT', `${app}/active-build`, { buildId });
  const start = `${runtime}/${String(buildId)}/process-name/waits/start`;
  const instance = await send('POST', start, {}, { 'svc-platform': 'web' });
  const stopped = `${runtime}/${String(buildId)}/process-name/stops/start`;
  await client.send('POST', stopped, {}, { 'svc-platform': 'web' });
  const run = await send('POST', `${runtime}/${String(buildId)}/workflow/double/test-run`, {});
  await client.close();
  const [place] = instance['tokens'] as { uuid: string }[];
  const uuid = String(instance['uuid']);
  return {
    appId,
    versionId: VERSION,
    buildId: String(buildId),
    systemResourceId: String(system['resourceId']),
    processDefinitionName: 'waits',
    workflowName: 'double',
    uuid,
    processUuid: uuid,
    tokenUuid: String(place?.uuid),
    uiActionSvcUuid: TASK,
    workflowRunId: String(run['workflowRunId']),
  };
}

/** Scans the platform. Returns the id of the scan. */
export async function scanOf(url: string, token: string): Promise<string> {
  const client = new ApiClient(url, token);
  await sendOk(client, 'GET', '/api/platform/discover');
  const { scans } = await sendOk(client, 'GET', '/api/platform/discover/scans');
  await client.close();
  return String((scans as { id: number }[])[0]?.id);
}

async function sendOk(
  client: ApiClient,
  ...[method, path, body, headers]: Parameters<ApiClient['send']>
): Promise<Answer['body']> {
  const answer = await client.send(method, path, body, headers);
  prove(answer.status < 300, `${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
