import { describe, expect, it } from 'vitest';
import { xmlPlaces } from './xml-places.js';

const XML = `<?xml version="1.0"?>
<a id="root">
  <!-- <b id="b" name="in a comment"/> -->
  <b
    name="Check &quot;all&quot;&#10;of &#x26; it"
    id='b'/>
  <c id="c"><![CDATA[ id="d" ]]></c><d id="d" name=""/>
  <e ref-id="e" svc:name="not it" id="e"/>
</a>`;

describe('xmlPlaces', () => {
  it('finds the line and the name of elements', () => {
    expect([...xmlPlaces(XML, new Set(['b', 'c', 'd', 'e', 'gone']))]).toEqual([
      ['b', { line: 4, name: 'Check "all" of & it' }],
      ['c', { line: 7, name: undefined }],
      ['d', { line: 7, name: undefined }],
      ['e', { line: 8, name: undefined }],
    ]);
  });

  it('keeps invalid character references and unknown entities as written', () => {
    const nameOf = (name: string): string | undefined =>
      xmlPlaces(`<a id="x" name="${name}"/>`, new Set(['x'])).get('x')?.name;
    for (const name of [
      'p&constructor;q',
      '&toString;',
      '&__proto__;',
      '&#xD800;',
      '&#57343;',
      '&#x110000;',
    ]) {
      expect(nameOf(name)).toBe(name);
    }
    expect(nameOf('&#x1F4E6;')).toBe('\u{1f4e6}');
  });

  it('cuts long names between characters', () => {
    const name = `${'x'.repeat(79)}\u{1f4e6}y`;
    expect(xmlPlaces(`<a id="x" name="${name}"/>`, new Set(['x'])).get('x')?.name).toBe('x'.repeat(79));
  });

  it('returns the first of two elements with the same id', () => {
    expect(xmlPlaces('<a id="x"/>\n<b id="x" name="second"/>', new Set(['x'])).get('x')).toEqual({
      line: 1,
      name: undefined,
    });
  });
});
