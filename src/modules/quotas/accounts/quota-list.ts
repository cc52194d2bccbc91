import type { Env } from '../../../config/env.js';
import type { QuotaName } from '../../../config/quota-settings.js';
import type { Quota, QuotaKind, QuotaScope } from '../model/quota.types.js';

const NAMED: Readonly<Record<QuotaName, readonly [QuotaKind, QuotaScope]>> = {
  'app-starts': ['STARTS', 'APP'],
  'caller-starts': ['STARTS', 'CALLER'],
  'app-data-bytes': ['DATA_BYTES', 'APP'],
  'caller-data-bytes': ['DATA_BYTES', 'CALLER'],
  'app-model-tokens': ['MODEL_TOKENS', 'APP'],
  'caller-model-tokens': ['MODEL_TOKENS', 'CALLER'],
  'app-jobs': ['JOBS', 'APP'],
  'caller-jobs': ['JOBS', 'CALLER'],
};

/** The quotas of QUOTAS. */
export function quotasOf(env: Env): Quota[] {
  return [...env.get('QUOTAS')].map(([name, limit]) => {
    const [kind, scope] = NAMED[name];
    return { kind, scope, name, limit };
  });
}
