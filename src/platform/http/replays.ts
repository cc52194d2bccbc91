/** Kept outside of the responses, because a stored response is sent unchanged. */
const replays = new WeakSet<object>();

/** Marks a response as stored for an earlier call with the same `Idempotency-Key`. */
export function asReplay<Answer extends object>(answer: Answer): Answer {
  replays.add(answer);
  return answer;
}

/** Returns whether a response was stored for an earlier call. */
export function isReplay(answer: object): boolean {
  return replays.has(answer);
}
