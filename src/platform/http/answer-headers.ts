import type { Response } from 'express';
import { isReplay } from './replays.js';

/** The response header `Location` of what was created or started (RFC 9110, section 10.2.2), for the OpenAPI document. */
export const LOCATION_HEADER = {
  Location: {
    description: 'Path to read it.',
    required: true,
    schema: { type: 'string', pattern: '^/' },
  },
} as const;

/**
 * Sets the header `Location` of what was created or started.
 * @param parts segments of the path; they are URL-encoded
 */
export function setLocation(response: Response, ...parts: readonly string[]): void {
  response.setHeader('Location', `/${parts.map(encodeURIComponent).join('/')}`);
}

/** The response header of a response that was stored for an earlier call, for the OpenAPI document. */
export const REPLAY_HEADER = {
  'Idempotent-Replayed': {
    description:
      'true if this is the stored response to an earlier call with the same `Idempotency-Key`; absent otherwise.',
    schema: { type: 'string', enum: ['true'] },
  },
};

/** Returns the response of a call, and sets `Idempotent-Replayed` if it was stored for an earlier call. */
export function withReplayHeader<Answer extends object>(response: Response, answer: Answer): Answer {
  if (isReplay(answer)) {
    response.setHeader('Idempotent-Replayed', 'true');
  }
  return answer;
}
