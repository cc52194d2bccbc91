import { closestMatch } from 'leven';

/** Share of characters that may differ; beyond it a name is another word, not a typo. */
const LARGEST_DIFFERENCE = 0.4;
/** Longer texts are not names, and comparing them costs more than the hint is worth. */
const NAME_MAX_LENGTH = 255;

/**
 * Returns the known name closest to a misspelt one, for "Did you mean" hints.
 * @param known existing names; the first one wins a tie
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > NAME_MAX_LENGTH) {
    return undefined;
  }
  const folded = name.toLowerCase();
  const others = known.filter((other) => other.length <= NAME_MAX_LENGTH);
  const sameLetters = others.find((other) => other.toLowerCase() === folded);
  const swapped = others.find((other) => isSwap(folded, other.toLowerCase()));
  const maxDistance = Math.max(1, Math.floor(name.length * LARGEST_DIFFERENCE));
  return sameLetters ?? swapped ?? closestMatch(name, others, { maxDistance });
}

/** Whether two adjacent letters are swapped: one typo that counts as two differences. */
function isSwap(one: string, other: string): boolean {
  const at = one.split('').findIndex((letter, index) => letter !== other[index]);
  const swapped = one.slice(0, at) + one.charAt(at + 1) + one.charAt(at) + one.slice(at + 2);
  return at !== -1 && one.length === other.length && swapped === other;
}

/** Returns a hint such as ` Did you mean "state"?`, or an empty string when no known name is close. */
export function didYouMean(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
}
