/** Said of a text that cannot be used as CEL, where it looks like FEEL. */
export const FEEL_HINT =
  ' (this looks like FEEL; conditions here are CEL: leave out the "=" at the beginning, and compare with "==", "&&" and "||")';

/** Whether a text begins as expressions of Camunda 8 in FEEL do. No CEL begins with an equals sign. */
export function isFeel(source: string): boolean {
  return source.trimStart().startsWith('=');
}
