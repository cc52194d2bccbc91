import { describe, expect, it } from 'vitest';
import { table } from './lines.js';

describe('table', () => {
  it('aligns columns, and keeps each row on its line', () => {
    expect(
      table(
        ['A', 'LONG'],
        [
          ['one', 1],
          ['a\nb', null],
        ],
      ),
    ).toEqual(['A    LONG', 'one  1', 'a b  -']);
  });

  it('cuts long cells, unless all of them is asked for', () => {
    const text = `${'a'.repeat(118)}😀${'b'.repeat(900)}`;
    expect(table(['A'], [[text]])).toEqual(['A', `${'a'.repeat(118)}😀…`]);
    expect(table(['A'], [[text]], Infinity)).toEqual(['A', text]);
  });

  it('lets no cell steer the terminal', () => {
    expect(table(['A'], [['\u001b[31mred\u009b2J']])).toEqual(['A', '\uFFFD[31mred\uFFFD2J']);
  });
});
