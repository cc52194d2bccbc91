import { describe, expect, it } from 'vitest';
import { PackageProblems } from '../../../src/delivery/packages/model/package-problems.js';

describe('problems of a package beyond their limit', () => {
  const place = { file: 'a.bpmn', element: null };
  const firstWords = (problems: PackageProblems) =>
    problems.list().map(({ message }) => message.split(' ')[0]);

  it('omit warnings first, to report as many errors as possible', () => {
    const problems = new PackageProblems(3);
    ['w1', 'w2', 'w3', 'w4'].forEach((text) => problems.warning('W', place, text));
    expect(problems.hasErrors).toBe(false);
    ['e1', 'e2'].forEach((text) => problems.error('E', place, text));
    expect(firstWords(problems)).toEqual(['w1', 'e1', 'e2', 'Only']);
    ['e3', 'e4'].forEach((text) => problems.error('E', place, text));
    problems.warning('W', place, 'w5');
    expect(firstWords(problems)).toEqual(['e1', 'e2', 'e3', 'Only']);
    expect(problems.list().at(-1)).toMatchObject({ severity: 'warning', code: 'MORE_PROBLEMS' });
    expect(problems.hasErrors).toBe(true);
  });

  it('keep an error if only one problem is reported', () => {
    const problems = new PackageProblems(1);
    problems.warning('W', place, 'w1');
    problems.error('E', place, 'e1');
    expect(firstWords(problems)).toEqual(['e1', 'Only']);
  });
});
