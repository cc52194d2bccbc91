import type { ModelFailure } from './model-client.types.js';
import { dataLimits } from '../../../../platform/validation/data.limits.js';
import { modelLimits } from './model.limits.js';

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

  get advice(): string {
    return this.scripted ?? adviceOn(this.failure);
  }

  get isRetryable(): boolean {
    return RETRYABLE.test(this.failure);
  }
}

const AGAIN = `also after ${modelLimits.maxRetries} repetitions`;

const BY_STATUS: Readonly<Record<string, string>> = {
  HTTP_401: 'It refused the credentials: look at LLM_API_KEY.',
  HTTP_402: 'It asks to be paid: look at the account of LLM_API_KEY.',
  HTTP_403: 'It refused the credentials: look at LLM_API_KEY, and at what its account may do.',
  HTTP_404: 'There is no such address or no such model: look at LLM_BASE_URL and LLM_MODEL.',
  HTTP_408: `It took too long by its own account, ${AGAIN}.`,
  HTTP_413: 'The request is too large for it: look at its input, its tools and their results.',
  HTTP_429: `It asked for fewer requests, ${AGAIN}: look at the quota of the account of LLM_API_KEY.`,
};

const OF_SERVER = `It failed by itself, ${AGAIN}: look at its provider.`;
const OF_REQUESTS =
  'It refused the request: look at LLM_MODEL, whether the model takes tools, at LLM_ANSWER_FORMAT, and at how much text it takes ' +
  'and whether it sees (AGENT_MAX_IMAGE_BYTES). What it said stays with its provider.';

/** What to do about a failure of the model, in words of ours: what the other side wrote is no part of it. */
export function adviceOn(failure: ModelFailure): string {
  switch (failure) {
    case 'TIMEOUT':
      return `It did not answer within ${modelLimits.timeoutMs / 1_000} seconds, ${AGAIN}.`;
    case 'NETWORK':
      return `It could not be reached, or the connection broke, ${AGAIN}: look at LLM_BASE_URL and at the network.`;
    case 'BLOCKED':
      return 'The call was not let out, or was led elsewhere: look at LLM_BASE_URL, which must be the last address, without redirects.';
    case 'TOO_LARGE':
      return `Its answer has more than ${modelLimits.maxResponseBytes} bytes or ${dataLimits.values} values.`;
    case 'INVALID':
      return `Its answer is no chat completion of the OpenAI API, ${AGAIN}: look at LLM_BASE_URL and LLM_MODEL.`;
    default:
      return BY_STATUS[failure] ?? (failure.startsWith('HTTP_5') ? OF_SERVER : OF_REQUESTS);
  }
}
