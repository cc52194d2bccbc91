import type { Env } from '../../../config/env.js';
import type { Quota } from '../model/quota.types.js';

/** The quotas that the settings name; those without a limit are left out. */
export function quotasOf(env: Env): Quota[] {
  const named = [
    ['STARTS', 'APP', 'QUOTA_APP_STARTS'],
    ['STARTS', 'CALLER', 'QUOTA_CALLER_STARTS'],
    ['DATA_BYTES', 'APP', 'QUOTA_APP_DATA_BYTES'],
    ['DATA_BYTES', 'CALLER', 'QUOTA_CALLER_DATA_BYTES'],
    ['MODEL_TOKENS', 'APP', 'QUOTA_APP_MODEL_TOKENS'],
    ['MODEL_TOKENS', 'CALLER', 'QUOTA_CALLER_MODEL_TOKENS'],
    ['JOBS', 'APP', 'QUOTA_APP_JOBS'],
    ['JOBS', 'CALLER', 'QUOTA_CALLER_JOBS'],
  ] as const;
  return named
    .map(([kind, scope, setting]) => ({ kind, scope, setting, limit: env.get(setting) }))
    .filter(({ limit }) => limit > 0);
}
