import { ApiClient, type Answer } from './api-client.js';
import { prove } from './proof.js';
import { APPS, type Things } from './rights-operations.js';

const TASK = 'a4c7c6a2-52c9-4b7c-9c8e-0f4f3c1f5a10';
const VERSION = 'v1';
/** The task stands in a lane that asks for the permission `clerk`. */
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
/** It stops at once, with an incident. */
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

/** Resource name of the one system that an application registers. */
export function serverOf(app: string): string {
  return `server${APPS.findIndex((one) => one === app)}`;
}

/** Delivers an application with a system, a running instance, one with an incident, and a run of a workflow. */
export async function deliverApplication(url: string, token: string, appId: string): Promise<Things> {
  const client = new ApiClient(url, token);
  const app = `/appmanager/api/resource/app/${appId}`;
  const version = `${app}/app-version/${VERSION}`;
  const runtime = `/rtm/api/runtime/app/${appId}/build`;
  const demand = (...call: Parameters<ApiClient['send']>): Promise<Answer['body']> =>
    demanded(client, ...call);
  const system = await demand('PATCH', `${version}/rt/system/integration/api/systems`, {
    action: 'CREATE',
    resourceName: serverOf(appId),
    payload: {
      name: 'Server',
      type: 'MCP',
      baseUrl: `https://127.0.0.1:9/${appId}`,
      authorization: { type: 'NO_AUTH' },
    },
  });
  await demand('PUT', `${version}/package`, {
    application: { formatVersion: 1, appId, name: appId },
    processes: [
      { file: 'processes/waits.bpmn', bpmn: PROCESS },
      { file: 'processes/stops.bpmn', bpmn: STOPPING },
    ],
    workflows: [WORKFLOW],
  });
  await demand('POST', `${version}/commit`, {});
  const { buildId } = await demand('POST', `${version}/build`, {});
  await demand('PUT', `${app}/active-build`, { buildId });
  const start = `${runtime}/${String(buildId)}/process-name/waits/start`;
  const instance = await demand('POST', start, {}, { 'svc-platform': 'web' });
  const stopped = `${runtime}/${String(buildId)}/process-name/stops/start`;
  await client.send('POST', stopped, {}, { 'svc-platform': 'web' });
  const run = await demand('POST', `${runtime}/${String(buildId)}/workflow/double/test-run`, {});
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

/** Scans the platform. @returns the number of the scan */
export async function scanOf(url: string, token: string): Promise<string> {
  const client = new ApiClient(url, token);
  await demanded(client, 'GET', '/api/platform/discover');
  const { scans } = await demanded(client, 'GET', '/api/platform/discover/scans');
  await client.close();
  return String((scans as { id: number }[])[0]?.id);
}

async function demanded(
  client: ApiClient,
  ...[method, path, body, headers]: Parameters<ApiClient['send']>
): Promise<Answer['body']> {
  const answer = await client.send(method, path, body, headers);
  prove(answer.status < 300, `${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
