/** Describes a JSON syntax error with its line and column. Returns undefined for any other error. */
export function jsonFault(error: unknown, text: string): string | undefined {
  if (!(error instanceof SyntaxError)) {
    return undefined;
  }
  const { line, column } = placeOfFault(error, text);
  const place = `line ${line}, column ${column}`;
  // Newer engines already append the place.
  return `${error.message.replace(/ \(line \d+ column \d+\)$/, '')} (${place})`;
}

/** Returns the line and column of a JSON syntax error, both counted from 1. @param error thrown by `JSON.parse` */
export function placeOfFault(error: SyntaxError, text: string): { line: number; column: number } {
  const before = text.slice(0, Math.min(positionOf(error, text), text.trimEnd().length)).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function positionOf({ message }: SyntaxError, text: string): number {
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) {
    return Number(position);
  }
  return isUnexpectedToken(message) ? positionOfToken(text) : text.length;
}

/** Finds an unexpected token, of which the engine reports only the surrounding text: it ends the shortest prefix that has this error. */
function positionOfToken(text: string): number {
  let without = 0;
  let withIt = text.length;
  while (withIt - without > 1) {
    const middle = Math.floor((without + withIt) / 2);
    try {
      JSON.parse(text.slice(0, middle));
      without = middle;
    } catch (error) {
      const isIn = isUnexpectedToken((error as SyntaxError).message);
      [without, withIt] = isIn ? [without, middle] : [middle, withIt];
    }
  }
  return without;
}

function isUnexpectedToken(message: string): boolean {
  return message.startsWith('Unexpected token');
}
