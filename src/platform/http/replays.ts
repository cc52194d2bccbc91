/** Kept beside the answers, since an answer is sent as it was stored. */
const replays = new WeakSet<object>();

/** Notes that an answer was stored for an earlier call with the same `Idempotency-Key`. */
export function asReplay<Answer extends object>(answer: Answer): Answer {
  replays.add(answer);
  return answer;
}

/** Whether an answer was stored for an earlier call. */
export function isReplay(answer: object): boolean {
  return replays.has(answer);
}
