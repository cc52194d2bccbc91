import { describe, expect, it } from 'vitest';
import { table } from './lines.js';

describe('table', () => {
  it('aligns columns, and keeps each row on its line', () => {
    const rows = [{ a: 'one', long: 1 }, { a: 'a\nb' }];
    expect(table(rows, { A: 'a', LONG: ({ long }) => long })).toEqual(['A    LONG', 'one  1', 'a b  -']);
  });

  it('cuts long cells unless the limit is infinite', () => {
    const text = `${'a'.repeat(118)}😀${'b'.repeat(900)}`;
    expect(table([{ text }], { A: 'text' })).toEqual(['A', `${'a'.repeat(118)}😀…`]);
    expect(table([{ text }], { A: 'text' }, Infinity)).toEqual(['A', text]);
  });

  it('removes terminal control characters from cells', () => {
    expect(table([{ text: '\u001b[31mred\u009b2J' }], { A: 'text' })).toEqual(['A', '\uFFFD[31mred\uFFFD2J']);
  });
});
