/** Matches the name of an order in a text. Every order is one agent run. */
export const ORDER_NAME = /order-\d+/;

/** Tools that the agent of an order calls in sequence, with annotations on whether a repeated call is safe. */
export const AGENT_TOOLS = [
  { name: 'look_up', annotations: { readOnlyHint: true } },
  { name: 'set_limit', annotations: { readOnlyHint: false, idempotentHint: true } },
  { name: 'book', annotations: {} },
] as const;

export type AgentTool = (typeof AGENT_TOOLS)[number]['name'];

/** The tool for which a repeated call does harm. */
export const UNSAFE_TOOL: AgentTool = 'book';

/** Returns the name under which the model counts a call. Turns start at 0. */
export const modelCall = (order: string, turn: number): string => `${order}/model-${turn}`;

/** Returns the name under which the MCP server counts a call. */
export const toolCall = (order: string, tool: string): string => `${order}/${tool}`;

/** Script of the model: it calls the tools in sequence and answers with the order. */
export const AGENT_SCRIPT = {
  model: 'orders',
  rules: [
    ...AGENT_TOOLS.map(({ name }) => ({
      when: { prompt: `(?<order>${ORDER_NAME.source})`, notCalled: [name] },
      calls: [{ tool: name, arguments: { order: '${order}' } }],
    })),
    { when: { prompt: `(?<order>${ORDER_NAME.source})` }, answers: { order: '${order}' } },
  ],
};

const REFERENCE = { resourceName: 'orders' };

/** Returns an application whose process passes each order to an agent. */
export function agentPackage(appId: string, toolsUrl: string): Record<string, unknown> {
  const to = (targetNodeId: string, sourceNodeId: string): object => ({
    outgoingSequences: [{ id: `to-${targetNodeId}`, sourceNodeId, targetNodeId }],
  });
  const nodes = [
    { id: 'start', type: 'START', name: 'start', ...to('agent', 'start') },
    {
      id: 'agent',
      type: 'CUSTOM_AGENT',
      name: 'agent',
      inputBody: '{ "order": "${order}" }',
      responseKey: 'answer',
      aiOptions: {
        aiType: 'CUSTOM_AGENT',
        operationPrompt: 'Book ${order}.',
        exampleOutputJsonSchema: {
          type: 'object',
          properties: { order: { type: 'string' } },
          required: ['order'],
        },
        mcpServers: [REFERENCE],
      },
      ...to('end', 'agent'),
    },
    { id: 'end', type: 'END', name: 'end', outputBody: '{ "order": "${answer.order}" }' },
  ];
  return {
    application: { formatVersion: 1, appId, name: 'Orders' },
    systems: [{ ...REFERENCE, name: 'Orders', type: 'MCP', baseUrl: toolsUrl }],
    workflows: [{ name: 'book_order', nodes }],
    processes: [{ file: 'processes/orders.bpmn', bpmn: BPMN }],
  };
}

const BPMN = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:svc="urn:svc:bpmn:1" id="orders_definitions" targetNamespace="urn:prove">
<bpmn:process id="orders" isExecutable="true">
<bpmn:startEvent id="start"/>
<bpmn:serviceTask id="book"><bpmn:extensionElements><svc:actions>
<svc:action name="book" kind="startWorkflow" workflow="book_order" resultKey="booked"><svc:input>{ "order": "\${order}" }</svc:input></svc:action>
</svc:actions></bpmn:extensionElements></bpmn:serviceTask>
<bpmn:endEvent id="end"/>
<bpmn:sequenceFlow id="to_book" sourceRef="start" targetRef="book"/>
<bpmn:sequenceFlow id="to_end" sourceRef="book" targetRef="end"/>
</bpmn:process>
</bpmn:definitions>`;
