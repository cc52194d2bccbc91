import { v7 as uuid } from 'uuid';
import {
  WorkflowCallEntity,
  WorkflowRunEntity,
} from '../../../src/runtime/calls/workflows/storage/workflow-run.entity.js';
import type { TestApp, TestResponse } from '../../support/app.js';
import { connectionTestPath, uniqueName } from '../../support/factories.js';
import { flows, node, processFile, serviceTask } from '../../support/runtime/process-files.js';
import { deliveryPath, packageDocument, type Published, workflowOf } from '../../support/runtime/publish.js';

type Members = Record<string, unknown>;

/** Schema of the agent's answer in these tests. */
export const ANSWER_SCHEMA = {
  type: 'object',
  properties: { verdict: { type: 'string' } },
  required: ['verdict'],
  additionalProperties: false,
};

/** Options of {@link publishAgent}. */
export interface AgentPublication {
  /** Addresses of MCP servers. Their systems are named `tools`, `tools2`, … */
  servers: string[];
  prompt?: string;
  node?: Members;
  authorization?: Members;
  /** Authorization for the connection test, including the secret that a package never contains. */
  credentials?: Members;
  /** Called after the package is stored and before the connections are tested. */
  prepare?: (version: { appId: string; versionId: string }) => Promise<void>;
  /** Whether the connections are tested before the build is made. @default true */
  tested?: boolean;
}

/**
 * Publishes an application whose workflow `advise` runs an agent and whose process `advising` starts that workflow.
 * The connections of its systems are tested before the build is made.
 */
export async function publishAgent(
  app: TestApp,
  {
    servers,
    prompt = 'Advise.',
    node: own = {},
    authorization = { type: 'NO_AUTH' },
    credentials,
    tested = true,
    prepare,
  }: AgentPublication,
): Promise<Published> {
  const [appId, versionId] = [uniqueName('app'), uniqueName('v')];
  const systems = servers.map((baseUrl, index) => ({
    resourceName: index === 0 ? 'tools' : `tools${index + 1}`,
    name: 'Tools',
    type: 'MCP',
    baseUrl,
    authorization,
  }));
  const agent = {
    id: 'agent',
    type: 'CUSTOM_AGENT',
    responseKey: 'advice',
    aiOptions: {
      aiType: 'CUSTOM_AGENT',
      aiSubType: null,
      operationPrompt: prompt,
      exampleOutputJsonSchema: ANSWER_SCHEMA,
      mcpServers: systems.map(({ resourceName }) => ({ resourceName })),
    },
    ...own,
  };
  const workflows = [workflowOf('advise', [agent])];
  const body = packageDocument(appId, { bpmn: advising, package: { systems, workflows } });
  const path = deliveryPath(appId, versionId);
  await ok(app.request('PUT', `${path}/package`, { body }));
  await prepare?.({ appId, versionId });
  for (const { baseUrl } of tested ? systems : []) {
    const test = { body: { baseUrl, authorization: credentials ?? authorization } };
    const { body: result } = await app.request('PATCH', connectionTestPath(appId, versionId), test);
    if (result['status'] !== 200) {
      throw new Error(JSON.stringify(result));
    }
  }
  await ok(app.request('POST', `${path}/commit`));
  const { buildId } = await ok(app.request<{ buildId: string }>('POST', `${path}/build`));
  return { appId, versionId, buildId };
}

async function ok<Body>(response: Promise<TestResponse<Body>>): Promise<Body> {
  const { status, text, body } = await response;
  if (status >= 300) {
    throw new Error(`${status} ${text}`);
  }
  return body;
}

const advising = processFile(
  'advising',
  `${node('startEvent', 'start')}
   ${serviceTask('ask', [{ name: 'ask', kind: 'startWorkflow', workflow: 'advise', resultKey: 'outcome' }])}
   ${node('endEvent', 'end')}${flows('start>ask ask>end')}`,
);

/** Returns the stored calls of a run, in order. */
export async function callRows(app: TestApp, runKey: string): Promise<WorkflowCallEntity[]> {
  const { id } = await app.dataSource.getRepository(WorkflowRunEntity).findOneByOrFail({ runKey });
  return app.dataSource
    .getRepository(WorkflowCallEntity)
    .find({ where: { runId: id }, order: { startedAt: 'ASC', callKey: 'ASC' } });
}

/** Returns a new run key. */
export const newRunKey = (): string => uuid();
