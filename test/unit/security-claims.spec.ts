import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('docs/security.md refers only to existing tests', () => {
  const text = readFileSync('docs/security.md', 'utf8');
  const named = [...text.matchAll(/`([\w./-]+\.(?:int-)?spec\.ts)`/g)].map(([, path]) => path ?? '');
  expect(named.length).toBeGreaterThan(80);
  const missing = named.filter((path) => !existsSync(path) && !existsSync(`test/integration/${path}`));
  expect(missing).toEqual([]);
});
