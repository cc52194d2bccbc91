import type { ModelFailure } from './model-client.types.js';

const AGAIN = 'also after LLM_MAX_RETRIES repetitions';

/** By the status of an answer. */
const BY_STATUS: Readonly<Record<string, string>> = {
  HTTP_401: 'It refused the credentials: look at LLM_API_KEY.',
  HTTP_402: 'It asks to be paid: look at the account of LLM_API_KEY.',
  HTTP_403: 'It refused the credentials: look at LLM_API_KEY, and at what its account may do.',
  HTTP_404: 'There is no such address or no such model: look at LLM_BASE_URL and LLM_MODEL.',
  HTTP_408: `It took too long by its own account, ${AGAIN}.`,
  HTTP_413:
    'The request is too large for it: look at AGENT_MAX_INPUT_BYTES, AGENT_MAX_TOOLS_BYTES and AGENT_MAX_RESULT_BYTES.',
  HTTP_429: `It asked for fewer requests, ${AGAIN}: look at the quota of the account of LLM_API_KEY.`,
};

const OF_REQUESTS =
  'It refused the request: look at LLM_MODEL, whether the model takes tools, at LLM_ANSWER_FORMAT and LLM_TEMPERATURE, and at how much text it takes ' +
  '(AGENT_MAX_INPUT_BYTES, AGENT_MAX_TOOLS_BYTES) and whether it sees (AGENT_MAX_IMAGE_BYTES). What it said stays with its provider.';

/** What to do about a failure of the model, in words of ours: what the other side wrote is no part of it. */
export function adviceOn(failure: ModelFailure): string {
  switch (failure) {
    case 'TIMEOUT':
      return `It did not answer within LLM_TIMEOUT_MS, ${AGAIN}.`;
    case 'NETWORK':
      return `It could not be reached, or the connection broke, ${AGAIN}: look at LLM_BASE_URL and at the network.`;
    case 'BLOCKED':
      return 'The call was not let out, or was led elsewhere: look at LLM_BASE_URL, which must be the last address, without redirects.';
    case 'TOO_LARGE':
      return 'Its answer is larger than LLM_MAX_RESPONSE_BYTES or PROCESS_DATA_MAX_VALUES allow.';
    case 'INVALID':
      return `Its answer is no chat completion of the OpenAI API, ${AGAIN}: look at LLM_BASE_URL and LLM_MODEL.`;
    default:
      return BY_STATUS[failure] ?? ofOthers(failure);
  }
}

function ofOthers(failure: string): string {
  return failure.startsWith('HTTP_5') ? `It failed by itself, ${AGAIN}: look at its provider.` : OF_REQUESTS;
}
