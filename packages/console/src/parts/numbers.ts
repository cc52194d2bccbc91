import { texts } from '../texts/texts.js';
import { isRounded } from './json.js';

/** Returns why text is not a valid number, or undefined. Empty text is valid. */
export function numberFault(text: string, isWhole: boolean): string | undefined {
  if (text.trim() === '') {
    return undefined;
  }
  const number = Number(text);
  if (!Number.isFinite(number)) {
    return texts.parts.notANumber;
  }
  if (isRounded(text.trim())) {
    return texts.parts.rounded;
  }
  return isWhole && !Number.isInteger(number) ? texts.parts.notWhole : undefined;
}
