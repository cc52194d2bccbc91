import { describe, expect, it } from 'vitest';
import { SecretCipher, SecretUnreadableError, sealedKeyId, type SecretPlace } from './secret-cipher.js';

const first = { id: 'first', key: Buffer.alloc(32, 1) };
const second = { id: 'second', key: Buffer.alloc(32, 2) };
const place: SecretPlace = { table: 'systems', rowId: 'row-1', column: 'client_secret' };

describe('SecretCipher', () => {
  const cipher = new SecretCipher([first]);

  it.each(['', 's', 'correct horse battery staple', 'ü 😀 \u0000', 'x'.repeat(10_000)])(
    'opens what it sealed: %j',
    (plain) => {
      const sealed = cipher.seal(plain, place);
      expect(sealed).toMatch(/^svc1\.first\.[\w-]{16}\.[\w-]{22}\.[\w-]*$/);
      expect(cipher.open(sealed, place)).toBe(plain);
    },
  );

  it('never seals a text to the same value twice', () => {
    const sealed = Array.from({ length: 100 }, () => cipher.seal('same', place));
    expect(new Set(sealed).size).toBe(100);
  });

  it.each<[string, Partial<SecretPlace>]>([
    ['table', { table: 'tools' }],
    ['row', { rowId: 'row-2' }],
    ['column', { column: 'client_id' }],
    ['boundary between its parts', { table: 'system', rowId: 'srow-1' }],
  ])('does not open a value that was moved to another %s', (_part, elsewhere) => {
    const sealed = cipher.seal('secret', place);
    expect(() => cipher.open(sealed, { ...place, ...elsewhere })).toThrow(SecretUnreadableError);
  });

  it('does not open a value if any character was changed', () => {
    const sealed = cipher.seal('secret', place);
    // Unused bits of a last character are zero, so these replacements always change a byte.
    for (let index = 0; index < sealed.length; index += 1) {
      const other = sealed[index] === 'A' ? '_' : 'A';
      const forged = sealed.slice(0, index) + other + sealed.slice(index + 1);
      expect(() => cipher.open(forged, place), forged).toThrow(SecretUnreadableError);
    }
  });

  it.each([
    ['nothing', ''],
    ['no format', 'plain text'],
    ['another format', 'svc2.first.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA.AAAA'],
    ['an additional part', `${new SecretCipher([first]).seal('x', place)}.AAAA`],
    ['no tag', 'svc1.first.AAAAAAAAAAAAAAAA..AAAA'],
    ['a short tag', 'svc1.first.AAAAAAAAAAAAAAAA.AAAA.AAAA'],
    ['no initialisation vector', 'svc1.first..AAAAAAAAAAAAAAAAAAAAAA.AAAA'],
  ])('does not open %s, with the same error message', (_case, sealed) => {
    expect(() => cipher.open(sealed, place)).toThrow('A stored secret cannot be read.');
  });

  it('seals with the first key and opens with every key', () => {
    const old = cipher.seal('secret', place);
    const rotated = new SecretCipher([second, first]);
    expect(rotated.keyIds).toEqual(['second', 'first']);
    expect(rotated.open(old, place)).toBe('secret');
    expect(sealedKeyId(rotated.seal('secret', place))).toBe('second');
  });

  it('does not open a value whose key is missing or different', () => {
    const sealed = cipher.seal('secret', place);
    expect(() => new SecretCipher([second]).open(sealed, place)).toThrow(SecretUnreadableError);
    const impostor = { ...first, key: Buffer.alloc(32, 9) };
    expect(() => new SecretCipher([impostor]).open(sealed, place)).toThrow(SecretUnreadableError);
  });

  it('does not open a value that names another configured key', () => {
    const twins = new SecretCipher([first, { ...first, id: 'twin' }]);
    const relabelled = twins.seal('secret', place).replace('svc1.first.', 'svc1.twin.');
    expect(() => twins.open(relabelled, place)).toThrow(SecretUnreadableError);
  });

  it('opens a bound value only with the same binding in the same order', () => {
    const bound = (...binding: (string | null)[]): SecretPlace => ({ ...place, binding });
    const sealed = cipher.seal('secret', bound('https://a', null, 'b'));
    expect(sealed).toMatch(/^svc2\.first\./);
    expect(cipher.open(sealed, bound('https://a', null, 'b'))).toBe('secret');
    const others = [
      [],
      ['https://a', null],
      ['https://a', '', 'b'],
      ['https://b', null, 'b'],
      ['b', null, 'https://a'],
    ];
    for (const other of [place, ...others.map((binding) => bound(...binding))]) {
      expect(() => cipher.open(sealed, other)).toThrow(SecretUnreadableError);
    }
    expect(() => cipher.open(cipher.seal('secret', place), bound())).toThrow(SecretUnreadableError);
    expect(() => cipher.open(sealed.replace('svc2', 'svc1'), place)).toThrow(SecretUnreadableError);
  });

  it('seals nothing without a key', () => {
    expect(() => new SecretCipher([]).seal('secret', place)).toThrow(SecretUnreadableError);
  });

  it('returns the key id of a value', () => {
    const sealed = cipher.seal('secret', place);
    expect(sealedKeyId(sealed)).toBe('first');
    expect(sealedKeyId('')).toBe('');
  });
});
