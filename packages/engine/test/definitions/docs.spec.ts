import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NODE_KINDS } from '../../src/definitions/draft/draft.js';
import { compileXml } from './compile.js';

const ROOT = resolve(import.meta.dirname, '../../../..');
const page = readFileSync(resolve(ROOT, 'docs/bpmn.md'), 'utf8');

describe('docs/bpmn.md', () => {
  it('shows an example that compiles without a warning', async () => {
    const [, xml = ''] = /```xml\n([\s\S]*?)```/.exec(page) ?? [];
    const { definitions, problems } = await compileXml(xml);
    expect(problems).toEqual([]);
    expect(definitions.map(({ name }) => name)).toEqual(['[retail]loan']);
  });

  it('names every element that is executed', () => {
    const words = (name: string): string => name.replaceAll(/[A-Z]/g, ' $&').toLowerCase();
    const text = page.toLowerCase();
    const missing = Object.keys(NODE_KINDS).filter(
      (name) => !page.includes(name) && !text.includes(words(name)),
    );
    expect(missing).toEqual([]);
  });
});
