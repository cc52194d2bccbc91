import type { ModelFailure } from './model-client.types.js';

const RETRYABLE = /^(TIMEOUT|NETWORK|INVALID|HTTP_(408|409|429|5\d\d))$/;

/** One call of the model failed. The message says how, never what the other side wrote. */
export class ModelCallError extends Error {
  override readonly name = 'ModelCallError';
  /** @param retryAfterMs what the model asks to wait, where it does */
  constructor(
    readonly failure: ModelFailure,
    readonly retryAfterMs: number | null = null,
  ) {
    super(`The call of the model failed: ${failure}.`);
  }

  /** Whether the same call may succeed a little later. */
  get isRetryable(): boolean {
    return RETRYABLE.test(this.failure);
  }
}
