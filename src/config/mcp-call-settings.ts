import { flag } from './setting-rules.js';

/** Settings of tool calls. What servers may cost is bounded for each call, each system and all of them. */
export const mcpCallSettings = {
  TOOL_CALLS: flag(false).describe(
    'Whether people with the permission tool-call may call enabled tools by hand, with the credentials of their systems.',
  ),
};
