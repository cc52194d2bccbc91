import { z } from 'zod';
import { integer } from './setting-rules.js';

/** Settings of evaluation mode alone. */
export const evaluationSettings = {
  MCP_PORT: integer(1, 65_535, 3_001).describe(
    'Port of 127.0.0.1 on which the sample application of evaluation mode finds its MCP server (npm run dev:mcp-server).',
  ),
  EVALUATION_MODEL_PORT: integer(0, 65_535, 0).describe(
    'Port of 127.0.0.1 on which evaluation mode starts its scripted model; 0 takes a free one. None is started where LLM_BASE_URL is set.',
  ),
  EVALUATION_MODEL_SCRIPT: z
    .string()
    .min(1)
    .optional()
    .describe('JSON file that the scripted model answers from; the one of the sample without it.'),
  EVALUATION_CLOCK: z.iso
    .datetime('must be a date and time in UTC, such as 2030-01-31T08:00:00Z')
    .optional()
    .describe(
      'Date and time at which the clock of evaluation mode stands still until a test moves it; without the sample application. Refused in production.',
    ),
};
