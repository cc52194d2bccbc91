/** An agent of which one tool is ready. */
export const PREFLIGHT_EXAMPLE = {
  ready: true,
  nodes: [
    {
      appId: 'sample',
      appVersionId: 'v1',
      buildId: null,
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

/** A build whose library has an agent that cannot run. */
export const BUILD_PREFLIGHT_EXAMPLE = {
  ready: false,
  nodes: [
    {
      appId: 'sample-library',
      appVersionId: 'v1',
      buildId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30',
      workflow: 'rate_client',
      nodeId: 'agent',
      nodeName: 'Ask the registry',
      ready: false,
      reason:
        'The agent has no tool that is ready: a run of the node fails. The node is of the library "sample-library": test the connections of ' +
        'its version "v1" and switch its tools there, and where that is not enough make another build of it, and name that build as the library.',
      systems: [
        {
          appId: 'sample-library',
          resourceDefinitionId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b0f',
          resourceName: 'registry',
          state: 'NEVER_TESTED',
          reason: 'Its connection was never tested, so its tools are not known.',
          tools: [],
        },
      ],
    },
  ],
};
