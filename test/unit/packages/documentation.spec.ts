import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageSettings } from '../../../src/config/package-settings.js';
import { NODE_TYPES } from '../../../src/modules/packages/check/workflow-node-check.js';

const SOURCES = 'src/modules/packages';
/** Codes are the first argument of these, or stand in a member `code`; those of references are put together. */
const CODE = /(?:\b(?:error|warning|wrong)\(\s*|requireUniqueNames\(\s*'[^']*',\s*|code: )'([A-Z_]+)'/g;
const PUT_TOGETHER = ['SYSTEM_NOT_FOUND', 'WORKFLOW_NOT_FOUND'];

const documentation = readFileSync('docs/packages.md', 'utf8');

it('every problem of a package is documented', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const codes = files.flatMap((file) =>
    [...readFileSync(join(SOURCES, file), 'utf8').matchAll(CODE)].map(([, code]) => code),
  );
  expect(codes.length).toBeGreaterThan(50);
  const missing = new Set(
    [...codes, ...PUT_TOGETHER].filter((code) => !documentation.includes(`\`${code}\``)),
  );
  expect([...missing]).toEqual([]);
});

it('every setting and every type of node is documented', () => {
  const names = [...Object.keys(packageSettings), ...NODE_TYPES];
  expect(names.filter((name) => !documentation.includes(`\`${name}\``))).toEqual([]);
});
