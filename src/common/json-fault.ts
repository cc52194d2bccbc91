/**
 * What is wrong with a text that is no JSON, with the line and the column in the text.
 * @param error what `JSON.parse` has thrown
 * @returns undefined where it was no fault of the text
 */
export function jsonFault(error: unknown, text: string): string | undefined {
  if (!(error instanceof SyntaxError)) {
    return undefined;
  }
  const position = /position (\d+)/.exec(error.message)?.[1];
  const before = text.slice(0, Math.min(Number(position ?? Infinity), text.trimEnd().length)).split('\n');
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  // Newer engines say it themselves.
  return `${error.message.replace(/ \(line \d+ column \d+\)$/, '')} (${place})`;
}
