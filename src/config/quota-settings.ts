import { integer } from './setting-rules.js';

const MOST = 1_000_000_000_000;
const MONTH_SECONDS = 31 * 86_400;

const quota = (meaning: string) => integer(0, MOST, 0).describe(`${meaning}; 0 is no limit.`);

/**
 * Quotas of applications and callers. None by default: nobody but the operator knows how much an application may need, and a
 * quota that is too small stops work.
 */
export const quotaSettings = {
  QUOTA_WINDOW_SECONDS: integer(1, MONTH_SECONDS, 3_600).describe(
    'Seconds after which the quotas of starts, data and tokens begin anew; counted from midnight UTC of 1970-01-01.',
  ),
  QUOTA_APP_STARTS: quota('Instances that one application starts in that time, called ones too'),
  QUOTA_CALLER_STARTS: quota('Instances that one caller starts in that time, called ones too'),
  QUOTA_APP_DATA_BYTES: quota('Bytes of process data that one application stores in that time'),
  QUOTA_CALLER_DATA_BYTES: quota('Bytes of process data that one caller stores in that time'),
  QUOTA_APP_MODEL_TOKENS: quota('Tokens of the language model that one application uses in that time'),
  QUOTA_CALLER_MODEL_TOKENS: quota('Tokens of the language model that one caller uses in that time'),
  QUOTA_APP_JOBS: quota('Open background jobs of one application'),
  QUOTA_CALLER_JOBS: quota('Open background jobs of what one caller has started'),
  QUOTA_COUNT_SECONDS: integer(1, 3_600, 5).describe(
    'Seconds for which a count of open background jobs is used; only with one of the two quotas above.',
  ),
};
