import { closestMatch } from 'leven';

/** A name that differs in more than this part of its characters is another word, not a slip of the pen. */
const LARGEST_DIFFERENCE = 0.4;
/** Longer texts are no names; comparing them would cost more than the hint is worth. */
const NAME_MAX_LENGTH = 255;

/**
 * The known name that somebody most likely meant, for messages that say what to write instead.
 * @param known names that exist, of any number; the first one wins where two are equally near
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

/** Whether two letters beside each other have changed places: one slip, which counts as two differences. */
function isSwap(one: string, other: string): boolean {
  const at = one.split('').findIndex((letter, index) => letter !== other[index]);
  const swapped = one.slice(0, at) + one.charAt(at + 1) + one.charAt(at) + one.slice(at + 2);
  return at !== -1 && one.length === other.length && swapped === other;
}

/** The end of a sentence that tells the nearest known name: ` Did you mean "state"?`, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
}
