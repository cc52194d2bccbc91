import { describe, expect, it } from 'vitest';
import { formatBytes, formatDuration } from './answer.js';

describe('formatDuration', () => {
  it.each([
    [0, '0ms'],
    [841.6, '842ms'],
    [999.4, '999ms'],
    [999.5, '1.0s'],
    [2_345, '2.3s'],
    [61_000, '61.0s'],
  ])('of %d is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('formatBytes', () => {
  it.each([
    [0, '0B'],
    [1_023, '1023B'],
    [1_024, '1KB'],
    [966_400, '943.8KB'],
    [67_108_864, '64MB'],
    [1_048_575, '1MB'],
    [1_932_735_283, '1.8GB'],
    [1_125_899_906_842_624, '1PB'],
    [-1, '0B'],
  ])('of %d is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
