/** Fixed cost of reading a pattern, and cost per character. Measured. */
const BASE_STEPS = 15;
const STEPS_A_CHARACTER = 1;
/** At some characters the parser copies everything read so far. */
const SQUARED_CHARACTERS_A_STEP = 4_000;
const STATES_A_STEP = 1;
/** A Unicode class has up to 700 ranges, twice as many with `(?i)`. Several in one class are sorted. Measured. */
const STEPS_A_UNICODE_CLASS = 300;
const STEPS_OF_CUBED_UNICODE_CLASSES = 4;
/** With `(?i)`, the other case of each code point in a range is looked up, up to the last one that has any. */
const FOLDED_CODE_POINTS_A_STEP = 2;
const LAST_FOLDED = 0x1_e9_43;
/** Ranges of a class are sorted, at worst in quadratic time. */
const SQUARED_RANGES_A_STEP = 100;

const CLASS_CHARACTER = String.raw`\\x\{[0-9a-fA-F]*\}|\\x..|\\[0-7]{1,3}|\\[^pP]|\[:\^?\w+:\]|[^\\]`;
const CLASS_ITEMS = new RegExp(
  String.raw`(?<unicode>\\[pP](?:\{[^}]{0,60}\}|.))|(?<low>${CLASS_CHARACTER})(?:-(?<high>${CLASS_CHARACTER}))?`,
  'gsu',
);
/** Tokens of a pattern, including those that could hide a repetition: quoted text, flags, group names. */
const TOKENS = new RegExp(
  [
    String.raw`\\Q(?<quoted>.*?)(?:\\E|$)`,
    String.raw`\(\?(?<flags>[a-zA-Z-]*)\)`,
    String.raw`(?<open>\((?:\?P?<[^>]{0,200}>|\?[a-zA-Z-]*:)?)`,
    String.raw`(?<close>\))`,
    String.raw`(?<unicode>\\[pP](?:\{[^}]{0,60}\}|.))`,
    String.raw`(?<letter>\\x\{[^}]{0,60}\}|\\x..|\\[0-7]{1,3}|\\.)`,
    String.raw`(?<class>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*(?:\]|$))`,
    String.raw`\{(?<least>\d+)(?:(?<comma>,)(?<most>\d*))?\}`,
    String.raw`(?<other>.)`,
  ].join('|'),
  'gsu',
);
type Groups = Partial<Record<string, string>>;
const FOLDS = /\(\?[a-zA-Z]*i/;

/** Returns the cost of reading a pattern of this length, charged before the pattern is inspected. */
export function readingPrice(length: number): number {
  return BASE_STEPS + length * STEPS_A_CHARACTER + length ** 2 / SQUARED_CHARACTERS_A_STEP;
}

/** Returns the maximum cost of building the automaton of a pattern, estimated from its text without compiling it. */
export function machinePrice(source: string): number {
  return regexStates(source) / STATES_A_STEP + classesPrice(source);
}

function classesPrice(source: string): number {
  const folds = FOLDS.test(source);
  let price = 0;
  for (const { groups = {} } of source.matchAll(TOKENS)) {
    if (groups['unicode'] !== undefined) {
      price += unicodePrice(1, folds);
    } else if (groups['class'] !== undefined) {
      price += classPrice(groups['class'], folds);
    }
  }
  return price;
}

function classPrice(written: string, folds: boolean): number {
  let price = 0;
  let ranges = 0;
  let classes = 0;
  for (const { groups = {} } of written.slice(1).matchAll(CLASS_ITEMS)) {
    ranges += 1;
    classes += groups['unicode'] === undefined ? 0 : 1;
    if (folds && groups['high'] !== undefined) {
      const most = Math.min(codePointOf(groups['high']), LAST_FOLDED);
      price += Math.max(0, most - codePointOf(groups['low'])) / FOLDED_CODE_POINTS_A_STEP;
    }
  }
  return price + ranges ** 2 / SQUARED_RANGES_A_STEP + unicodePrice(classes, folds);
}

/** Returns the cost of the Unicode classes in one class. Their thousands of ranges are sorted, which is more than linear. */
function unicodePrice(classes: number, folds: boolean): number {
  const ranges = classes * (folds ? 2 : 1);
  return ranges * STEPS_A_UNICODE_CLASS + ranges ** 3 * STEPS_OF_CUBED_UNICODE_CLASSES;
}

function codePointOf(written = ''): number {
  const hexadecimal = /^\\x\{?([0-9a-fA-F]+)/.exec(written)?.[1];
  return hexadecimal === undefined ? (written.codePointAt(0) ?? 0) : Number.parseInt(hexadecimal, 16);
}

/**
 * Estimates the maximum number of states of a pattern with its counted repetitions expanded. A short pattern can have many:
 * `(a{1,100}){1,10}`.
 */
export function regexStates(pattern: string): number {
  /** Sizes of the open groups, outermost first; `atom` is the size of the part that a repetition repeats. */
  const sizes = [0];
  let atom = 0;
  const add = (size: number): void => {
    sizes.push((sizes.pop() ?? 0) + size);
  };
  for (const { groups = {} } of pattern.matchAll(TOKENS)) {
    if (groups['least'] !== undefined) {
      const repeated = repeatedSize(atom, groups);
      add(repeated - atom);
      atom = repeated;
    } else if (groups['open'] !== undefined) {
      sizes.push(0);
    } else if (groups['close'] !== undefined && sizes.length > 1) {
      atom = (sizes.pop() ?? 0) + 2;
      add(atom);
    } else {
      atom = sizeOf(groups, atom, add);
    }
  }
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Adds the size of a part that is neither a group nor a counted repetition. Returns the size that a repetition would repeat. */
function sizeOf(groups: Groups, atom: number, add: (size: number) => void): number {
  if (groups['flags'] !== undefined || groups['quoted'] === '') {
    return atom;
  }
  add(groups['quoted']?.length ?? 1);
  return /^[*+?]$/.test(groups['other'] ?? '') ? atom + 1 : 1;
}

/** Returns the size of an expanded repetition: `x{2,5}` is `xx(x(x(x)?)?)?`, and `x{2,}` is `xx+`. */
function repeatedSize(atom: number, { least, comma, most }: Groups): number {
  if (comma === undefined) {
    return atom * Number(least);
  }
  const optional = most === undefined || most === '' ? 0 : Number(most) - Number(least);
  return Math.max(1, Number(least)) * atom + Math.max(0, optional) * (atom + 1) + 1;
}
