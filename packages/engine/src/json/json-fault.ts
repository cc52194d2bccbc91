/**
 * What is wrong with a text that is no JSON, with the line and the column in the text.
 * @returns undefined where it was no fault of the text
 */
export function jsonFault(error: unknown, text: string): string | undefined {
  if (!(error instanceof SyntaxError)) {
    return undefined;
  }
  const { line, column } = placeOfFault(error, text);
  const place = `line ${line}, column ${column}`;
  // Newer engines say it themselves.
  return `${error.message.replace(/ \(line \d+ column \d+\)$/, '')} (${place})`;
}

/** Where a text is no JSON; both count from 1. @param error what `JSON.parse` has thrown */
export function placeOfFault(error: SyntaxError, text: string): { line: number; column: number } {
  const before = text.slice(0, Math.min(positionOf(error, text), text.trimEnd().length)).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function positionOf({ message }: SyntaxError, text: string): number {
  const told = /position (\d+)/.exec(message)?.[1];
  if (told !== undefined) {
    return Number(told);
  }
  return isUnexpectedToken(message) ? placeOfToken(text) : text.length;
}

/** Of an unexpected token the engine tells only the text around it. It is the last character of the shortest beginning that has one. */
function placeOfToken(text: string): number {
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
