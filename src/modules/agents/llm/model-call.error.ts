import { adviceOn } from './failure-advice.js';
import type { ModelFailure } from './model-client.types.js';

const RETRYABLE = /^(TIMEOUT|NETWORK|INVALID|HTTP_(408|409|429|5\d\d))$/;

/** One call of the model failed. It says how, never what the other side wrote, unless that is the scripted model of evaluation mode. */
export class ModelCallError extends Error {
  override readonly name = 'ModelCallError';
  /**
   * @param retryAfterMs what the model asks to wait, where it does
   * @param scripted what the scripted model says, see OpenAiModelClient
   */
  constructor(
    readonly failure: ModelFailure,
    readonly retryAfterMs: number | null = null,
    private readonly scripted: string | null = null,
  ) {
    super(`The call of the model failed: ${failure}.`);
  }

  /** What to do. */
  get advice(): string {
    return this.scripted ?? adviceOn(this.failure);
  }

  /** Whether the same call may succeed a little later. */
  get isRetryable(): boolean {
    return RETRYABLE.test(this.failure);
  }
}
