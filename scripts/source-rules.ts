import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { sourceViolations } from '../test/support/source-rules.js';

/**
 * Checks every file that git knows, or would add, against the rules on source text.
 *
 *     tsx scripts/source-rules.ts
 */
const listing = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
});
const violations = listing
  .split('\0')
  .filter((path) => path !== '' && existsSync(path))
  .flatMap((path) => sourceViolations(path, readFileSync(path, 'utf8')));
for (const { path, line, why } of violations) {
  console.log(`${path}:${line} ${why}`);
}
console.log(violations.length === 0 ? 'The source rules hold.' : `${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;
