import { apiRoutes } from '../../../../platform/http/api-routes.js';
import { DELIVERY_DENIED, NO_BUILD, NO_VERSION } from '../../../../delivery/builds/model/build.examples.js';
import { PreflightResponseDto } from './preflight.dto.js';

/** Agent with one ready tool. */
const PREFLIGHT_EXAMPLE = {
  ready: true,
  nodes: [
    {
      appId: 'sample',
      appVersionId: 'v1',
      buildId: null,
      workflow: 'check_stock',
      nodeId: 'agent',
      nodeName: 'Check stock',
      ready: true,
      reason: null,
      systems: [
        {
          appId: 'sample',
          resourceDefinitionId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b0e',
          resourceName: 'inventory',
          state: 'READY',
          reason: null,
          tools: [tool('20', 'get-stock', 'READY', null), tool('21', 'order', 'DISABLED', 'It is disabled.')],
        },
      ],
    },
  ],
};

function tool(end: string, name: string, state: string, reason: string | null) {
  return { toolId: `01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b${end}`, name, state, reason };
}

/** Build with a library whose agent cannot run. */
const BUILD_PREFLIGHT_EXAMPLE = {
  ready: false,
  nodes: [
    {
      appId: 'sample-library',
      appVersionId: 'v1',
      buildId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30',
      workflow: 'rate_client',
      nodeId: 'agent',
      nodeName: 'Check registry',
      ready: false,
      reason:
        'The agent has no ready tool, so every run of the node fails. The node belongs to the library "sample-library". Test the connections of ' +
        'its version "v1" and enable its tools. If that is not enough, make another build of the library and use that build.',
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

const TOO_LARGE = {
  409: 'The agents have too many tools for one response: split the application, or use servers with fewer tools.',
};

export const PreflightApi = apiRoutes([DELIVERY_DENIED], {
  preflightVersion: {
    summary: 'Check what the agents of a version may use',
    description:
      'Extension of the contract. Lists systems and tools of every Custom Agent node of the version and its libraries as they ' +
      'would be in a build made now: which are ready, and why the others are not. Makes no outside calls.',
    answer: { type: PreflightResponseDto, example: PREFLIGHT_EXAMPLE, description: 'The agent nodes.' },
    errors: [NO_VERSION, TOO_LARGE],
  },
  preflightBuild: {
    summary: 'Check what the agents of a build may use',
    description:
      'Extension of the contract. Lists systems and tools of every Custom Agent node of the build and its libraries, with ' +
      'definitions from the build and current flags. Makes no outside calls.',
    answer: { type: PreflightResponseDto, example: BUILD_PREFLIGHT_EXAMPLE, description: 'The agent nodes.' },
    errors: [NO_BUILD, TOO_LARGE],
  },
});
