import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import {
  DocumentReferences,
  moduleRootViolations,
  sourceViolations,
} from '../../test/support/source-rules.js';

/**
 * Checks every file that git tracks or would add against the rules on source text, resolves references to documents, and limits
 * the number of files in the root of a module.
 *
 *     tsx tools/scripts/source-rules.ts
 */
const listing = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
});
const files = listing.split('\0').filter((path) => path !== '' && existsSync(path));
const texts = new Map(files.map((path) => [path, readFileSync(path, 'utf8')]));
const references = new DocumentReferences(
  new Map([...texts].filter(([path]) => path.endsWith('.md'))),
  texts.keys(),
);
const textViolations = [...texts].flatMap(([path, text]) => [
  ...sourceViolations(path, text),
  ...references.violations(path, text),
]);
const violations = [...textViolations, ...moduleRootViolations([...texts.keys()])];
for (const { path, line, why } of violations) {
  console.log(`${path}:${line} ${why}`);
}
console.log(violations.length === 0 ? 'The source rules hold.' : `${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;
