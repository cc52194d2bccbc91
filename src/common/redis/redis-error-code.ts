import { codeOf } from '../../config/start.error.js';

/** First words of the errors with which Redis answers, as its documentation names them. */
export const REDIS_REPLY_CODES = [
  'WRONGPASS',
  'NOAUTH',
  'NOPERM',
  'OOM',
  'MISCONF',
  'NOREPLICAS',
  'READONLY',
  'CLUSTERDOWN',
  'MASTERDOWN',
  'LOADING',
  'BUSY',
];

/**
 * What may be told of an error of Redis or its driver: of an answer its first word, if it is a known one. The rest can hold commands with
 * credentials.
 */
export function redisErrorCode(error: unknown): string {
  const words = error instanceof Error ? error.message.split(/\W+/) : [];
  return words.find((word) => REDIS_REPLY_CODES.includes(word)) ?? codeOf(error);
}
