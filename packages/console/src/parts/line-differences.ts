/** Line of one text, or a pair of lines of both. */
export interface LinePair {
  before: string | undefined;
  after: string | undefined;
  isSame: boolean;
}

/** Maximum number of lines for a diff, whose cost grows with the product of the lengths. Longer texts are paired by index. */
const MAX_LINES = 600;

/** Pairs the lines of two texts for a side-by-side view. */
export function pairLines(before: string, after: string): LinePair[] {
  const one = before.split('\n');
  const other = after.split('\n');
  return one.length > MAX_LINES || other.length > MAX_LINES
    ? pairByIndex(one, other)
    : pairByDiff(one, other);
}

function pairByIndex(one: readonly string[], other: readonly string[]): LinePair[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_none, index) => ({
    before: one[index],
    after: other[index],
    isSame: one[index] === other[index],
  }));
}

/** Pairs lines by their longest common subsequence. */
function pairByDiff(one: readonly string[], other: readonly string[]): LinePair[] {
  const lengths = commonLengths(one, other);
  const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  const pairs: LinePair[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    pairs.push(...pairByIndex(removed, added).map((pair) => ({ ...pair, isSame: false })));
    removed = [];
    added = [];
  };
  let row = 0;
  let column = 0;
  while (row < one.length || column < other.length) {
    const before = one[row];
    const after = other[column];
    if (before !== undefined && before === after) {
      flush();
      pairs.push({ before, after, isSame: true });
      row += 1;
      column += 1;
    } else if (before !== undefined && (after === undefined || at(row + 1, column) >= at(row, column + 1))) {
      removed.push(before);
      row += 1;
    } else if (after !== undefined) {
      added.push(after);
      column += 1;
    }
  }
  flush();
  return pairs;
}

/** Computes the length of the longest common subsequence for each pair of suffixes. */
function commonLengths(one: readonly string[], other: readonly string[]): Uint16Array[] {
  const lengths = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let row = one.length - 1; row >= 0; row -= 1) {
    const here = lengths[row] ?? new Uint16Array();
    const below = lengths[row + 1];
    for (let column = other.length - 1; column >= 0; column -= 1) {
      here[column] =
        one[row] === other[column]
          ? (below?.[column + 1] ?? 0) + 1
          : Math.max(below?.[column] ?? 0, here[column + 1] ?? 0);
    }
  }
  return lengths;
}
