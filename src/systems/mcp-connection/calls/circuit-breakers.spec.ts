import { beforeEach, describe, expect, it } from 'vitest';

import { CircuitBreakers } from './circuit-breakers.js';

describe('CircuitBreakers', () => {
  let now = 0;
  let breakers: CircuitBreakers;
  beforeEach(() => {
    now = 0;
    breakers = new CircuitBreakers({ failures: 3, openMs: 100 }, () => now);
  });
  const fail = (times: number): void => {
    for (let time = 0; time < times; time += 1) {
      breakers.report('a', 'fails');
    }
  };
  const counts = (): [number, number] => [breakers.count('open'), breakers.count('half_open')];

  it('opens after the given number of consecutive failures, only for its key', () => {
    fail(2);
    expect(breakers.admits('a')).toBe(true);
    fail(1);
    expect(breakers.admits('a')).toBe(false);
    expect(breakers.admits('b')).toBe(true);
    expect(counts()).toEqual([1, 0]);
  });

  it('resets the count after a success and ignores unknown outcomes', () => {
    fail(2);
    breakers.report('a', 'unknown');
    breakers.report('a', 'works');
    fail(2);
    breakers.report('a', 'unknown');
    expect(breakers.admits('a')).toBe(true);
    fail(1);
    expect(breakers.admits('a')).toBe(false);
  });

  it('admits one trial after the open time, and closes when it succeeds', () => {
    fail(3);
    now = 100;
    expect(counts()).toEqual([0, 1]);
    expect([breakers.admits('a'), breakers.admits('a')]).toEqual([true, false]);
    breakers.report('a', 'works');
    expect([breakers.admits('a'), breakers.admits('a')]).toEqual([true, true]);
    expect(counts()).toEqual([0, 0]);
  });

  it('opens again when the trial fails', () => {
    fail(3);
    now = 100;
    expect(breakers.admits('a')).toBe(true);
    fail(1);
    now = 199;
    expect(breakers.admits('a')).toBe(false);
    now = 200;
    expect(breakers.admits('a')).toBe(true);
  });

  it('admits another trial when the outcome of the first is unknown', () => {
    fail(3);
    now = 100;
    expect(breakers.admits('a')).toBe(true);
    breakers.report('a', 'unknown');
    expect([breakers.admits('a'), breakers.admits('a')]).toEqual([true, false]);
  });

  it('forgets the oldest of many keys', () => {
    fail(3);
    for (let index = 0; index < 10_000; index += 1) {
      breakers.report(`other${index}`, 'fails');
    }
    expect(breakers.admits('a')).toBe(true);
  });
});
