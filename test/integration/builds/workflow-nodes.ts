import type { TestApp, TestRequest, TestResponse } from '../../support/app.js';
import { deliveryPath } from '../../support/runtime/publish.js';
import type { Place } from '../systems/rows.js';

/** Node as the API returns it. */
export type Node = Record<string, unknown> & {
  id: string;
  createdDate: string;
  modifiedDate: string;
  outgoingSequences: { id: string; sourceNodeId: string; targetNodeId: string }[];
};

/** Returns the path of the workflows of a version. */
export function workflowsPath({ appId, versionId }: Place): string {
  return `${deliveryPath(appId, versionId)}/workflow`;
}

/** Returns the path of the nodes of a workflow, or of one node. */
export function nodePath(place: Place, workflow: string, nodeId?: string): string {
  return `${workflowsPath(place)}/${workflow}/node${nodeId === undefined ? '' : `/${nodeId}`}`;
}

/** Reads a node. */
export function getNode(
  app: TestApp,
  place: Place,
  workflow: string,
  nodeId: string,
): Promise<TestResponse<Node>> {
  return app.request<Node>('GET', nodePath(place, workflow, nodeId));
}

/** Changes or removes a node with its current ETag as If-Match, unless the request sets another one. */
export async function changeNode(
  app: TestApp,
  method: 'PUT' | 'DELETE',
  path: string,
  request: TestRequest = {},
): Promise<TestResponse<Node>> {
  const etag = (await app.request('GET', path)).headers.get('etag') ?? '*';
  return app.request<Node>(method, path, { ...request, headers: { 'if-match': etag, ...request.headers } });
}

/** Returns an agent node. */
export function agentNode(
  members: Record<string, unknown> = {},
  options: Record<string, unknown> = {},
): object {
  return {
    id: 'agent',
    type: 'CUSTOM_AGENT',
    name: 'Ask',
    responseKey: 'answer',
    aiOptions: {
      aiType: 'CUSTOM_AGENT',
      operationPrompt: 'Is ${item} in stock?',
      exampleOutputJsonSchema: { type: 'object', properties: { inStock: { type: 'boolean' } } },
      mcpServers: [],
      ...options,
    },
    ...members,
  };
}
