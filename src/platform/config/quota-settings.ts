import { z } from 'zod';

/** What a quota counts for one application or one caller (docs/operations.md, quotas). */
export const QUOTA_NAMES = [
  'app-starts',
  'caller-starts',
  'app-data-bytes',
  'caller-data-bytes',
  'app-model-tokens',
  'caller-model-tokens',
  'app-jobs',
  'caller-jobs',
] as const;
export type QuotaName = (typeof QUOTA_NAMES)[number];

const ITEM = new RegExp(`^(${QUOTA_NAMES.join('|')})=([1-9]\\d{0,11})$`);

/**
 * Quotas of applications and callers. None by default: only the operator knows how much an application needs, and a
 * quota that is too small stops work.
 */
export const quotaSettings = {
  QUOTAS: z
    .string()
    .transform((text) => text.split(',').map((item) => ITEM.exec(item.trim())))
    .refine(
      (items) => items.every((item) => item !== null),
      `must list name=number with the names ${QUOTA_NAMES.join(', ')}`,
    )
    .transform((items) => new Map(items.map((item) => [item?.[1] as QuotaName, Number(item?.[2])])))
    .default(new Map<QuotaName, number>())
    .describe(
      'Maximum use per hour of one application or caller, such as app-starts=1000,caller-model-tokens=50000: starts, data-bytes and model-tokens; for jobs, the maximum number that are open. Without a quota there is no limit.',
    ),
};
