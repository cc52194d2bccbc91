import { describe, expect, it } from 'vitest';
import { quotedIn, storedBytes, storedText } from './tables/column-values.js';

describe('storedBytes', () => {
  it.each(['', 'H4sIAAAA', 'a "quoted" \\ text\n\u0001', 'ä€😀\ud800'])(
    'equals what the column stores for %j',
    (text) => {
      const stored = storedBytes(text);
      expect(Buffer.from(stored).toString()).toBe(JSON.stringify(storedText.to(text)));
      expect(Buffer.from(quotedIn(stored)).toString()).toBe(JSON.stringify(text));
    },
  );
});
