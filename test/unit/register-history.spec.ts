import { describe, expect, it } from 'vitest';
import { isLinearizable, type RegisterOperation } from '../../tools/proofs/support/register-history.js';

const write = (value: boolean, sent: number, answered: number): RegisterOperation => ({
  kind: 'write',
  value,
  sent,
  answered,
});
const read = (value: boolean, sent: number, answered: number): RegisterOperation => ({
  kind: 'read',
  value,
  sent,
  answered,
});

describe('isLinearizable', () => {
  it.each<[string, RegisterOperation[]]>([
    ['nothing', []],
    ['sequential operations', [write(false, 0, 1), read(false, 2, 3), write(true, 4, 5), read(true, 6, 7)]],
    ['a concurrent read that sees the old value', [write(false, 0, 10), read(true, 1, 2)]],
    ['a concurrent read that sees the new value', [write(false, 0, 10), read(false, 1, 2)]],
    ['concurrent writes in either order', [write(false, 0, 10), write(true, 0, 10), read(false, 11, 12)]],
  ])('accepts %s', (_title, history) => {
    expect(isLinearizable(history, true)).toBe(true);
  });

  it.each<[string, RegisterOperation[]]>([
    ['a read of a value that was never written', [read(false, 0, 1)]],
    ['a stale read after a completed write', [write(false, 0, 1), read(true, 2, 3)]],
    ['a lost write', [write(false, 0, 1), write(true, 2, 3), read(false, 4, 5)]],
    [
      'a value that reappears',
      [write(false, 0, 20), read(false, 1, 2), read(true, 3, 4), read(true, 21, 22)],
    ],
  ])('rejects %s', (_title, history) => {
    expect(isLinearizable(history, true)).toBe(false);
  });

  it('quickly checks a thousand operations, fifty of them concurrent', () => {
    const history = Array.from({ length: 1_000 }, (_, index) =>
      index % 2 === 0 ? write(index % 4 === 0, index, index + 50) : read(index % 4 === 1, index, index + 50),
    );
    expect(isLinearizable(history, true)).toBe(true);
  });
});
