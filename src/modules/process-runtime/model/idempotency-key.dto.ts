/** The request header `Idempotency-Key`. */
export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  required: false,
  description:
    'A value of your choice that names this call. The same call sent again with it, after a lost answer or at the same time, takes ' +
    'effect once and gets the same answer, byte by byte; with another body it is 409. Kept for `PROCESS_IDEMPOTENCY_DAYS`.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$', example: '7f2c1d9b-loan-4711' },
} as const;
