import { HttpStatus } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';
import { apiRoutes } from '../../../platform/http/api-routes.js';
import { LOCATION_HEADER } from '../../../platform/http/answer-headers.js';
import { ETAG_HEADER, IF_MATCH } from '../../../platform/http/conditional-requests.js';
import { DELIVERY_DENIED, PACKAGE_MOVED, VERSION_COMMITTED } from '../model/build.examples.js';
import { PACKAGE_REFUSED } from '../model/package.dto.js';
import { WorkflowDto, WorkflowListDto, WorkflowNodeDto } from './workflow-node.dto.js';

const TIME = '2026-01-31T10:20:30.123Z';
const USER = { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null };

const SUMMARY = {
  name: 'check_stock',
  description: 'Asks an agent what is in stock.',
  resourceId: '01920f3e-7d6b-5c3a-9a54-3f2f6c1d9b30',
  resourceDefinitionId: '01920f3e-7d6b-5c3a-9a54-3f2f6c1d9b31',
  nodeCount: 1,
};

/** A node in a request, without the members that the service sets. */
const NODE_REQUEST_EXAMPLE = {
  id: 'agent',
  type: 'CUSTOM_AGENT',
  name: 'Check stock',
  layoutOptions: { x: 200, y: 0 },
  inputBody: '{ "item": "${item}" }',
  responseKey: 'stock',
  aiOptions: {
    aiType: 'CUSTOM_AGENT',
    operationPrompt: 'Is ${item} in stock?',
    exampleOutputJsonSchema: { type: 'object', properties: { inStock: { type: 'boolean' } } },
    mcpServers: [{ resourceDefinitionId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b0e', appId: 'sample' }],
  },
};

const NODE_EXAMPLE = {
  ...NODE_REQUEST_EXAMPLE,
  svcUuid: '0b9a7f0e-2a57-5f0c-9a55-0d6d3f6c8f11',
  conditions: [],
  outgoingSequences: [{ id: 's1', sourceNodeId: 'agent', targetNodeId: 'end' }],
  outputBody: null,
  payload: null,
  aiOptions: { ...NODE_REQUEST_EXAMPLE.aiOptions, aiSubType: null },
  workflowResourceId: SUMMARY.resourceId,
  subWorkflowResourceDefinitionId: null,
  subWorkflowNodeType: null,
  createdDate: TIME,
  modifiedDate: TIME,
  createdBy: USER,
  modifiedBy: USER,
};

const WORKFLOW_LIST_EXAMPLE = { workflows: [SUMMARY] };

const WORKFLOW_EXAMPLE = { ...SUMMARY, inputSchema: null, outputSchema: null, nodes: [NODE_EXAMPLE] };

const NO_WORKFLOW = { 404: 'Workflow not found.' };
const NO_NODE = { 404: 'Workflow node not found.' };
const NODE = { type: WorkflowNodeDto, example: NODE_EXAMPLE };
const NODE_BODY = {
  schema: { $ref: getSchemaPath('PackageNodeRequest') },
  examples: { agent: { summary: 'An agent', value: NODE_REQUEST_EXAMPLE } },
};
const REFUSED = {
  ...PACKAGE_REFUSED,
  description:
    'Malformed request, or a workflow that a delivery would reject. All problems are listed; nothing is stored.',
};

export const WorkflowNodesApi = apiRoutes([DELIVERY_DENIED], {
  listWorkflows: {
    summary: 'List the workflows of a version',
    description: 'Extension of the contract. The list is empty for a version without a package.',
    answer: { type: WorkflowListDto, example: WORKFLOW_LIST_EXAMPLE, description: 'The workflows.' },
  },
  getWorkflow: {
    summary: 'Get a workflow with its nodes',
    description:
      'Extension of the contract. Nodes of all types have the same members as the Custom Agent workflow node.',
    answer: { type: WorkflowDto, example: WORKFLOW_EXAMPLE, description: 'The workflow.' },
    errors: [NO_WORKFLOW],
  },
  createWorkflowNode: {
    summary: 'Add a node to a workflow of a draft version',
    description:
      'Extension of the contract. `id` and `svcUuid` are generated if omitted; dates, users and `workflowResourceId` are ' +
      'ignored. The resulting workflow must be valid, so a node is usually inserted into a sequence. 409 if the version is committed or ' +
      `has a node of this id, and with \`${PACKAGE_MOVED}\` if others keep storing packages of the version.`,
    status: HttpStatus.CREATED,
    body: NODE_BODY,
    answer: {
      ...NODE,
      headers: { ...LOCATION_HEADER, ...ETAG_HEADER },
      description: 'The stored node.',
    },
    others: [REFUSED],
    errors: [NO_WORKFLOW, VERSION_COMMITTED],
  },
  getWorkflowNode: {
    summary: 'Get a node of a workflow',
    description: 'Extension of the contract. Send the `ETag` as `If-Match` to change the node.',
    answer: { ...NODE, headers: ETAG_HEADER, description: 'The node.' },
    others: [
      {
        status: 304,
        headers: ETAG_HEADER,
        description: 'The node is still the one in `If-None-Match`.',
      },
    ],
    errors: [NO_NODE],
  },
  updateWorkflowNode: {
    summary: 'Change a node of a workflow of a draft version',
    description:
      'Extension of the contract. Replaces the whole node. You can change a node that you have read and send it back. ' +
      '409 if the version is committed or the node has changed since (`If-Match`), and with ' +
      `\`${PACKAGE_MOVED}\` if others keep storing packages of the version.`,
    headers: [IF_MATCH],
    body: NODE_BODY,
    answer: { ...NODE, headers: ETAG_HEADER, description: 'The node as it is stored.' },
    others: [REFUSED],
    errors: [NO_NODE, VERSION_COMMITTED],
  },
  deleteWorkflowNode: {
    summary: 'Delete a node of a workflow of a draft version',
    description:
      'Extension of the contract. Sequences to the node then lead to its target. 400 if the workflow would be invalid without the node. ' +
      '409 as for a change.',
    headers: [IF_MATCH],
    answer: { ...NODE, description: 'The node as it was.' },
    others: [REFUSED],
    errors: [NO_NODE, VERSION_COMMITTED],
  },
});
