import { z } from 'zod';
import { flag, permission } from './setting-rules.js';

/** Settings of running processes. */
export const processSettings = {
  PROCESS_START_PERMISSION: permission.describe(
    'Permission of PERMISSION_RULES that starting a process asks for where the model has no svc:start; any valid token without it.',
  ),
  PROCESS_UI_ACTION_PERMISSION: permission.describe(
    'Permission of PERMISSION_RULES that executing a UI action asks for; any valid token without it.',
  ),
  PROCESS_UI_ACTION_ACCESS: z
    .enum(['starter', 'any-token'], 'must be starter or any-token')
    .default('starter')
    .describe(
      'Who may execute UI actions where no lane asks for a permission: who started the instance (starter), or any valid token (any-token). With any-token the list of tasks tells everybody with a valid token uuids of instances and tokens, application, process and node of what they may execute.',
    ),
  PROCESS_MESSAGE_ONE_RECEIVER: flag(false).describe(
    'Whether only one token may wait for a message with a correlation: a step that would make a second one wait is an incident. Needs DATABASE_SHARDS=1.',
  ),
};
