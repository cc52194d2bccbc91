import { RE2JS } from '@bufbuild/re2';
import { inTurn } from '../support/turns.js';

/** A Unicode class in a pattern, also when the pattern is embedded in JSON or an expression. */
const CLASS = /\\[pP](?:\{\^?(\w{1,40})\}|([A-Z]))/g;
/** Common general categories of Unicode. */
const USUAL = ['L', 'Lu', 'Ll', 'N', 'Nd', 'P', 'S', 'Z'];
const made = new Set<string>();

/**
 * Builds the tables of the Unicode classes that a text names, such as `\p{Greek}`. The library tests every character once per class
 * and process. Building class by class lets other work run in between.
 * @param text anything that contains patterns; names unknown to RE2 are ignored
 */
export async function makeUnicodeClasses(text: string): Promise<void> {
  // Searching a long text takes a while, even without a match.
  for (const name of await inTurn(() => new Set(classesOf(text)))) {
    if (!made.has(name)) {
      await inTurn(() => make(name));
    }
  }
}

/**
 * Returns a Unicode class of a pattern whose table may not exist yet: it is neither a common one nor written in the expression, for
 * which tables are built in advance. Building it would block the evaluation.
 */
export function findUnbuiltClass(pattern: string, written: string): string | undefined {
  const others = classesOf(pattern).filter((name) => !USUAL.includes(name));
  return others.length === 0 ? undefined : others.find((name) => !classesOf(written).includes(name));
}

function classesOf(text: string): string[] {
  return Array.from(text.matchAll(CLASS), ([, long, short]) => long ?? short ?? '');
}

/** Builds the tables of the common classes, so that no request has to wait for them. */
export function makeUsualUnicodeClasses(): Promise<void> {
  return makeUnicodeClasses(USUAL.map((name) => `\\p{${name}}`).join(''));
}

/** Returns the number of tables that this thread has built. */
export function unicodeClassesMade(): number {
  return made.size;
}

function make(name: string): void {
  try {
    RE2JS.compile(`\\p{${name}}`);
    // Only valid names are kept, since invalid ones are unlimited.
    made.add(name);
  } catch {
    // Compiling the pattern reports the error.
  }
}
