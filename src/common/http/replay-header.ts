import type { Response } from 'express';
import { isReplay } from '../replays.js';

/** The response header of an answer that was stored for an earlier call, for the OpenAPI document. */
export const REPLAY_HEADER = {
  'Idempotent-Replayed': {
    description:
      'true where this is the stored answer to an earlier call with the same `Idempotency-Key`; absent otherwise.',
    schema: { type: 'string', enum: ['true'] },
  },
};

/** Hands on an answer of a call, and marks one that was stored for an earlier call. */
export function marked<Answer extends object>(response: Response, answer: Answer): Answer {
  if (isReplay(answer)) {
    response.setHeader('Idempotent-Replayed', 'true');
  }
  return answer;
}
