import { describe, expect, it } from 'vitest';
import { DocumentReferences } from '../support/source-rules.js';

// Concatenated, because the rules also check this file.
const contract = (rest: string) => ['/** A rule (docs', `contract.md${rest}). */`].join('/');
const link = (target: string) => `See [the rules](${target}).`;

const references = new DocumentReferences(
  new Map([
    [
      'docs/contract.md',
      '# Rules\n\n## 4. Processes\n\n### 4.2 Endpoint 8: execute\n\n```text\n## 9. No heading\n```\n',
    ],
    ['README.md', '# Service\n'],
  ]),
  ['docs/contract.md', 'docs/images/tree.png', 'README.md', 'openapi.json'],
);

describe('references to documents', () => {
  it.each([
    ['src/a.ts', contract('')],
    ['src/a.ts', contract(', section 4.2')],
    ['src/a.ts', contract(', sections 4 and 4.2')],
    ['src/a.ts', contract(',\n * section 4')],
    ['README.md', link('docs/contract.md#42-endpoint-8-execute')],
    ['docs/contract.md', link('#4-processes')],
    ['docs/contract.md', link('../README.md')],
    ['docs/contract.md', link('../openapi.json')],
    ['README.md', link('docs/images/tree.png')],
    ['README.md', link('docs/images/')],
    ['docs/contract.md', link('https://example.com/nowhere.md#at-all')],
  ])('are valid, in %s: %s', (path, text) => {
    expect(references.violations(path, `first\n${text}`)).toEqual([]);
  });

  it.each([
    ['src/a.ts', contract(', section 4.3')],
    ['src/a.ts', contract(', sections 4 and 9')],
    ['src/a.ts', contract(',\n * section 5')],
    ['src/a.ts', contract('').replace('contract', 'missing')],
    ['src/a.ts', ['/** States of a token (decisions', 'section 6). */'].join(', ')],
    ['src/a.ts', ['// Decisions', 'section 6: who may do it.'].join(', ')],
    ['src/a.ts', ['/** Tokens (process semantics', 'section 6). */'].join(',\n * ')],
    ['src/a.ts', ['/** Why it stopped (semantics', 'exception record). */'].join(': ')],
    ['src/a.ts', ['/** Semantics', 'section 10: only a process is started. */'].join(', ')],
    ['src/a.ts', ['/** Build info (process semantics', '"Build info"). */'].join(', ')],
    ['src/a.ts', ['/** Starts (interface contract', 'endpoint 7). */'].join(', ')],
    ['README.md', link('docs/contract.md#42-endpoint-7')],
    ['docs/contract.md', link('#5-processes')],
    ['docs/contract.md', link('README.md')],
    ['README.md', link('compose.yaml')],
    ['README.md', link('images/')],
  ])('are broken, in %s: %s', (path, text) => {
    expect(references.violations(path, `first\n${text}`)).toMatchObject([{ path, line: 2 }]);
  });
});
