import { describe, expect, it } from 'vitest';
import { canonicalJson, canonicalPieces } from './canonical-json.js';

describe('canonicalJson', () => {
  it('writes the example of RFC 8785, section 3.2.2', () => {
    const value = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"\u002f',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts members by UTF-16 code units, as RFC 8785, section 3.2.3 does', () => {
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
    const names = [...canonicalJson(value).matchAll(/:(\d)/g)].map(([, number]) => number);
    expect(names).toEqual(['2', '4', '6', '7', '1', '5', '3']);
  });

  it('gives equal text for equal values in any order, also with names that look like integers', () => {
    expect(canonicalJson({ b: { 10: 1, 9: 2 }, a: [] })).toBe(canonicalJson({ a: [], b: { 9: 2, 10: 1 } }));
    expect(canonicalJson({ 9: 2, 10: 1 })).toBe('{"10":1,"9":2}');
  });
});

describe('canonicalPieces', () => {
  const texts = ['', 'a "quoted" \\ text\n\u0001', 'ä€😀\ud800', 'x'.repeat(2_500_000)];
  const content = (text: (value: string) => unknown) => ({
    workflows: texts.map((value, index) => ({ name: `n${index}`, definition: text(value) })),
    tools: [],
    settings: { b: null, a: [1, { c: 'ü' }] },
    definitions: [],
    graph: text('{}'),
  });

  it('add up to the text of canonicalJson, with bytes in place of texts', () => {
    const pieces = [...canonicalPieces(content((value) => new TextEncoder().encode(JSON.stringify(value))))];
    const text = Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString();
    expect(text).toBe(canonicalJson(content((value) => value)));
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1_100_000);
  });
});
