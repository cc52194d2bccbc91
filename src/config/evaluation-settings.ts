import { integer } from './setting-rules.js';

/** Settings of evaluation mode alone. */
export const evaluationSettings = {
  MCP_PORT: integer(1, 65_535, 3_001).describe(
    'Port of 127.0.0.1 on which the sample application of evaluation mode finds its MCP server (npm run dev:mcp-server).',
  ),
};
