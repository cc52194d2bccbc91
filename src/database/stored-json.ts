import type { ValueTransformer } from 'typeorm';
import { storedText } from './stored-text.js';

/** Maps JSON values to a column of `storedText` and back: members keep their order, null stays null. */
export const storedJson: ValueTransformer = {
  to: (value: unknown) => storedText.to(isAbsent(value) ? value : JSON.stringify(value)) as unknown,
  from: (stored: unknown) => {
    const text = storedText.from(stored) as string | null;
    return text === null ? null : (JSON.parse(text) as unknown);
  },
};

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}
