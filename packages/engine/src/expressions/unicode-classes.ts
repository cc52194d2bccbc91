import { RE2JS } from '@bufbuild/re2';
import { inTurn } from '../support/turns.js';

/** A class of Unicode in a pattern, also where the pattern stands in JSON or in the text of an expression. */
const CLASS = /\\[pP](?:\{\^?(\w{1,40})\}|([A-Z]))/g;
/** General categories of Unicode; to make that of letters takes longest. */
const USUAL = ['L', 'Lu', 'Ll', 'N', 'Nd', 'P', 'S', 'Z'];
const made = new Set<string>();

/**
 * Makes the tables of the classes of Unicode that a text names, such as `\p{Greek}`. The library tries every character for
 * each of them, once in the life of a process. Here this is done class by class, so that others have their turn in between.
 * @param text patterns, or what holds them; names that RE2 does not know are left out
 */
export async function makeUnicodeClasses(text: string): Promise<void> {
  // Also to find none takes a while in a long text.
  for (const name of await inTurn(() => new Set(classesOf(text)))) {
    if (!made.has(name)) {
      await inTurn(() => make(name));
    }
  }
}

/**
 * A class that a pattern names and that an expression must not wait for, because it is neither usual nor written in the expression, for
 * which it was made beforehand.
 */
export function unmadeClass(pattern: string, written: string): string | undefined {
  const others = classesOf(pattern).filter((name) => !USUAL.includes(name));
  return others.length === 0 ? undefined : others.find((name) => !classesOf(written).includes(name));
}

function classesOf(text: string): string[] {
  return Array.from(text.matchAll(CLASS), ([, long, short]) => long ?? short ?? '');
}

/** Makes those that most patterns name, so that no request has to wait for them. */
export function makeUsualUnicodeClasses(): Promise<void> {
  return makeUnicodeClasses(USUAL.map((name) => `\\p{${name}}`).join(''));
}

/** @returns how many classes this thread has made */
export function unicodeClassesMade(): number {
  return made.size;
}

function make(name: string): void {
  try {
    RE2JS.compile(`\\p{${name}}`);
    // Only these: others can be any number of names.
    made.add(name);
  } catch {
    // Whoever compiles the pattern says so.
  }
}
