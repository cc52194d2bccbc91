import { describe, expect, it } from 'vitest';
import { packedIn, quotedIn, storedBytes, storedText } from './stored-text.js';

describe('storedBytes', () => {
  it.each(['', 'H4sIAAAA', 'a "quoted" \\ text\n\u0001', 'ä€😀\ud800'])(
    'are what the column stores of %j',
    (text) => {
      const stored = storedBytes(text);
      expect(Buffer.from(stored).toString()).toBe(JSON.stringify(storedText.to(text)));
      expect(Buffer.from(quotedIn(stored)).toString()).toBe(JSON.stringify(text));
    },
  );

  it('hold the characters of base64 as they are', () => {
    expect(packedIn(storedBytes('H4sIAAAA+/=')).toString()).toBe('H4sIAAAA+/=');
  });
});
