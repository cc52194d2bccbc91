import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { NODE_TYPES } from '../../../src/delivery/packages/schema/node-types.types.js';
import { PackagesService } from '../../../src/delivery/packages/packages.service.js';
import { packageDocument, settings } from './package-fixture.js';

const SOURCES = 'src/delivery/packages';
/** Codes are the first argument of these functions, or the value of `code`. */
const CODE = /(?:\b(?:error|warning|wrong)\(\s*|requireUniqueNames\(\s*'[^']*',\s*|code: )'([A-Z_]+)'/g;
/** Codes of references, which are concatenated at run time. */
const CONCATENATED = ['SYSTEM_NOT_FOUND', 'WORKFLOW_NOT_FOUND'];

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
    [...codes, ...CONCATENATED].filter((code) => !documentation.includes(`\`${code}\``)),
  );
  expect([...missing]).toEqual([]);
});

it('the REST example in docs/workflows.md is a valid package', async () => {
  const text = readFileSync('docs/workflows.md', 'utf8').split('### An example')[1]?.split('\n### ')[0] ?? '';
  const [rest, flow] = [...text.matchAll(/```json\n([^]*?)```/g)].map(
    ([, json]) => JSON.parse(json ?? '') as unknown,
  );
  const env = settings();
  const service = new PackagesService(env);
  const { package: pkg, problems } = service.parse(packageDocument({ systems: [rest], workflows: [flow] }));
  expect(problems).toEqual([]);
  const checked = await service.check(pkg!, { appId: 'loans', libraries: [] });
  expect(checked.problems).toEqual([]);
});

it('every setting and every node type is documented', () => {
  const names = ['LIBRARY_CONSENT_AT_CALLS', ...NODE_TYPES];
  expect(names.filter((name) => !documentation.includes(`\`${name}\``))).toEqual([]);
});
