import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Runs the files first that share the application of their worker, those with the same variables together. */
export class SharedFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- of vitest, not of arrays
    const sorted = await super.sort(files);
    const ranks = new Map(sorted.map((file) => [file, rank(readFileSync(file.moduleId, 'utf8'))]));
    return sorted.toSorted((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0));
  }
}

function rank(text: string): number {
  const [call] = /TestApp\.shared\([^;]*/.exec(text) ?? [];
  return call === undefined ? 2 : call.includes('JOBS_CONCURRENCY') ? 1 : 0;
}
