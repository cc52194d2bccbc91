/** An agent of which one tool is ready. */
export const PREFLIGHT_EXAMPLE = {
  ready: true,
  nodes: [
    {
      workflow: 'check_stock',
      nodeId: 'agent',
      nodeName: 'Ask the stock',
      ready: true,
      reason: null,
      systems: [
        {
          appId: 'sample',
          resourceDefinitionId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b0e',
          resourceName: 'inventory',
          state: 'READY',
          reason: null,
          tools: [
            {
              toolId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
              name: 'get-stock',
              state: 'READY',
              reason: null,
            },
            {
              toolId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b21',
              name: 'order',
              state: 'DISABLED',
              reason: 'It is disabled.',
            },
          ],
        },
      ],
    },
  ],
};
