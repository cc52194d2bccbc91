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
    super(`The model call failed: ${failure}.`);
  }

  get advice(): string {
    return this.scripted ?? adviceOn(this.failure);
  }

  get isRetryable(): boolean {
    return RETRYABLE.test(this.failure);
  }
}

const AFTER_RETRIES = `even after ${modelLimits.maxRetries} retries`;

const BY_STATUS: Readonly<Record<string, string>> = {
  HTTP_401: 'The model endpoint rejected the credentials: check LLM_API_KEY.',
  HTTP_402: 'The model endpoint requires payment: check the account of LLM_API_KEY.',
  HTTP_403:
    'The model endpoint rejected the credentials: check LLM_API_KEY and the permissions of its account.',
  HTTP_404: 'The URL or the model does not exist: check LLM_BASE_URL and LLM_MODEL.',
  HTTP_408: `The model endpoint reported a timeout, ${AFTER_RETRIES}.`,
  HTTP_413: 'The request is too large: reduce the input, the tools or their results.',
  HTTP_429: `The model endpoint limits the request rate, ${AFTER_RETRIES}: check the quota of the account of LLM_API_KEY.`,
};

const SERVER_ERROR_ADVICE = `The model endpoint had an internal error, ${AFTER_RETRIES}: contact its provider.`;
const BAD_REQUEST_ADVICE =
  'The model endpoint rejected the request: check LLM_MODEL, LLM_ANSWER_FORMAT, the context length of the model, and whether it ' +
  'supports tools and images (AGENT_MAX_IMAGE_BYTES). The error message of the endpoint is not shown.';

/** Returns advice on a failure of the model, without text from the provider. */
export function adviceOn(failure: ModelFailure): string {
  switch (failure) {
    case 'TIMEOUT':
      return `The model endpoint did not answer within ${modelLimits.timeoutMs / 1_000} seconds, ${AFTER_RETRIES}.`;
    case 'NETWORK':
      return `The model endpoint could not be reached, or the connection broke, ${AFTER_RETRIES}: check LLM_BASE_URL and the network.`;
    case 'BLOCKED':
      return 'The call was blocked or redirected: check LLM_BASE_URL, which must be the final URL, without redirects.';
    case 'TOO_LARGE':
      return `The answer of the model endpoint has more than ${modelLimits.maxResponseBytes} bytes or ${dataLimits.values} values.`;
    case 'INVALID':
      return `The answer of the model endpoint is not a chat completion of the OpenAI API, ${AFTER_RETRIES}: check LLM_BASE_URL and LLM_MODEL.`;
    default:
      return BY_STATUS[failure] ?? (failure.startsWith('HTTP_5') ? SERVER_ERROR_ADVICE : BAD_REQUEST_ADVICE);
  }
}
