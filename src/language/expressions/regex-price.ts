/** Steps that making the machine of a pattern costs beside its states, and states and characters that one step pays for. */
const BASE_STEPS = 20;
const STATES_A_STEP_OF_A_CHARACTER = 32;

/**
 * The steps that a match costs at most. RE2 goes through the text once, but at each character through as many states as the
 * pattern has, and a short pattern can have many: `(a{1,100}){1,10}`. Measured, not derived.
 */
export function regexPrice(textLength: number, pattern: string): number {
  const states = regexStates(pattern);
  return BASE_STEPS + states + textLength * (1 + states / STATES_A_STEP_OF_A_CHARACTER);
}

/** How many states a pattern has when its counted repetitions are written out; about right is good enough. */
export function regexStates(pattern: string): number {
  /** Sizes of the open groups, the whole pattern outermost, and of what a repetition would repeat. */
  const groups = [0];
  let atom = 0;
  for (const token of pattern.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[^]/gs)) {
    const [text, least, most] = token;
    if (least !== undefined) {
      add(groups, atom * (Math.max(Number(least), Number(most ?? 0)) - 1));
    } else if (text === '(') {
      groups.push(0);
    } else if (text === ')' && groups.length > 1) {
      atom = groups.pop() ?? 0;
      add(groups, atom);
    } else {
      atom = 1;
      add(groups, atom);
    }
  }
  return groups.reduce((sum, size) => sum + size, 0);
}

function add(groups: number[], size: number): void {
  groups.push((groups.pop() ?? 0) + size);
}
