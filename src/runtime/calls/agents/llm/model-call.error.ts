import type { ModelFailure } from './model-client.types.js';
import { dataLimits } from '../../../../platform/validation/data.limits.js';
import { modelLimits } from './model.limits.js';

const RETRYABLE = /^(TIMEOUT|NETWORK|INVALID|HTTP_(408|409|429|5\d\d))$/;

/** A model call failed. Contains no text from the provider, except from the scripted model of evaluation mode. */
export class ModelCallError extends Error {
  override readonly name = 'ModelCallError';
  /**
   * @param retryAfterMs delay requested by the model, if any
   * @param scripted message of the scripted model, see OpenAiModelClient
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

const AGAIN = `even after ${modelLimits.maxRetries} retries`;

const BY_STATUS: Readonly<Record<string, string>> = {
  HTTP_401: 'It rejected the credentials: check LLM_API_KEY.',
  HTTP_402: 'It requires payment: check the account of LLM_API_KEY.',
  HTTP_403: 'It rejected the credentials: check LLM_API_KEY and the permissions of its account.',
  HTTP_404: 'The URL or the model does not exist: check LLM_BASE_URL and LLM_MODEL.',
  HTTP_408: `It reported a timeout, ${AGAIN}.`,
  HTTP_413: 'The request is too large: reduce the input, the tools or their results.',
  HTTP_429: `It limits the request rate, ${AGAIN}: check the quota of the account of LLM_API_KEY.`,
};

const OF_SERVER = `It had an internal error, ${AGAIN}: ask its provider.`;
const OF_REQUESTS =
  'It rejected the request: check LLM_MODEL, whether the model supports tools, LLM_ANSWER_FORMAT, its context length ' +
  'and whether it accepts images (AGENT_MAX_IMAGE_BYTES). Its error message is not shown.';

/** Returns advice on a failure of the model, without text from the provider. */
export function adviceOn(failure: ModelFailure): string {
  switch (failure) {
    case 'TIMEOUT':
      return `It did not answer within ${modelLimits.timeoutMs / 1_000} seconds, ${AGAIN}.`;
    case 'NETWORK':
      return `It could not be reached, or the connection broke, ${AGAIN}: check LLM_BASE_URL and the network.`;
    case 'BLOCKED':
      return 'The call was blocked or redirected: check LLM_BASE_URL, which must be the final URL, without redirects.';
    case 'TOO_LARGE':
      return `Its answer has more than ${modelLimits.maxResponseBytes} bytes or ${dataLimits.values} values.`;
    case 'INVALID':
      return `Its answer is not a chat completion of the OpenAI API, ${AGAIN}: check LLM_BASE_URL and LLM_MODEL.`;
    default:
      return BY_STATUS[failure] ?? (failure.startsWith('HTTP_5') ? OF_SERVER : OF_REQUESTS);
  }
}
