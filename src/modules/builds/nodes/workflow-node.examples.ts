const TIME = '2026-01-31T10:20:30.123Z';
const USER = { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null };

const SUMMARY = {
  name: 'check_stock',
  description: 'Asks an agent what is in stock.',
  resourceId: '01920f3e-7d6b-5c3a-9a54-3f2f6c1d9b30',
  resourceDefinitionId: '01920f3e-7d6b-5c3a-9a54-3f2f6c1d9b31',
  nodeCount: 1,
};

/** What a caller sends of a node; the rest is given by the service. */
export const NODE_REQUEST_EXAMPLE = {
  id: 'agent',
  type: 'CUSTOM_AGENT',
  name: 'Ask the stock',
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

export const NODE_EXAMPLE = {
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

export const WORKFLOW_LIST_EXAMPLE = { workflows: [SUMMARY] };

export const WORKFLOW_EXAMPLE = { ...SUMMARY, inputSchema: null, outputSchema: null, nodes: [NODE_EXAMPLE] };
