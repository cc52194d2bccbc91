import { apiRoutes } from '../../../common/http/api-routes.js';
import { SYSTEM_IF_MATCH } from '../../../common/http/conditional-requests.js';
import { SwitchToolRequestDto, SwitchToolResponseDto } from './switch-tool.dto.js';

export const ToolsApi = apiRoutes([], {
  switchTool: {
    summary: 'Enable or disable a tool',
    description:
      'The flag is looked at whenever an agent is about to call the tool, so it takes effect at once, in a committed version too. ' +
      'Repeating the call changes nothing. Versions that are still to come take over the flag, with who set it and when, as long as the definition of the tool is the same.',
    headers: [SYSTEM_IF_MATCH],
    body: {
      type: SwitchToolRequestDto,
      examples: {
        disable: { summary: 'Switch it off', value: { enabled: false } },
        enable: { summary: 'Switch it on', value: { enabled: true } },
      },
    },
    answer: {
      type: SwitchToolResponseDto,
      example: {
        status: 200,
        message: 'Tool disabled.',
        tool: { id: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20', name: 'get-stock', enabled: false },
        affectedNodes: [
          {
            appId: 'sample',
            appVersionId: 'v1',
            buildId: null,
            workflow: 'check_stock',
            nodeId: 'agent',
            nodeName: 'Ask the stock',
          },
        ],
      },
      description: 'The tool as it is now.',
    },
    errors: [403, { 404: 'Tool not found.' }, 412],
  },
});
