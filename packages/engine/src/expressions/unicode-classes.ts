import { RE2JS } from '@bufbuild/re2';
import { runAfterYield } from '../support/yield-event-loop.js';

/** A Unicode class in a pattern, also when the pattern is embedded in JSON or an expression. */
const CLASS = /\\[pP](?:\{\^?(\w{1,40})\}|([A-Z]))/g;
/** A call of `matches` whose pattern is not a short literal, in an expression that may be embedded in JSON. */
const PATTERN_FROM_DATA = /\bmatches\s*\((?!\s*[rR]?(\\*["'])(?:(?!\1)[^]){0,500}\1\s*\))/;
/** Common general categories of Unicode, which patterns from data may name. */
const USUAL = ['L', 'Lu', 'Ll', 'N', 'Nd', 'P', 'S', 'Z'];
const made = new Set<string>();

/**
 * Builds the tables of the Unicode classes that a text names, such as `\p{Greek}`, and those of the common ones where a pattern comes
 * from data. The library tests every character once per class and process. Building class by class lets other work run in between.
 * @param text anything that contains patterns; names unknown to RE2 are ignored
 */
export async function makeUnicodeClasses(text: string): Promise<void> {
  // Searching a long text takes a while, even without a match.
  for (const name of await runAfterYield(() => new Set(neededClasses(text)))) {
    if (!made.has(name)) {
      await runAfterYield(() => make(name));
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

function neededClasses(text: string): string[] {
  return PATTERN_FROM_DATA.test(text) ? [...USUAL, ...classesOf(text)] : classesOf(text);
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
