import { integer } from './setting-rules.js';

/** Settings of REST_ENDPOINT nodes of workflows. */
export const restEndpointSettings = {
  REST_TIMEOUT_MS: integer(100, 300_000, 10_000).describe(
    'Milliseconds for one call of a REST_ENDPOINT node that has no timeoutSeconds, its token included.',
  ),
  REST_MAX_RESPONSE_BYTES: integer(1_024, 16_777_216, 1_048_576).describe(
    'Largest answer of a REST system that a REST_ENDPOINT node takes; a larger one is refused, never cut.',
  ),
  REST_MAX_RETRIES: integer(0, 10, 2).describe(
    'How often a REST_ENDPOINT node calls again: after a call that was never sent, and for GET, PUT and DELETE also after 429, 502, 503, 504 and lost connections.',
  ),
  REST_RETRY_DELAY_MS: integer(1, 60_000, 500).describe(
    'Milliseconds before the first of these calls; each further one waits twice as long.',
  ),
};
