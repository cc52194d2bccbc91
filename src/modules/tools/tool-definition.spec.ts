import { describe, expect, it } from 'vitest';
import { definitionChanges, definitionHash } from './tool-definition.js';
import type { ToolDefinition } from './tool.types.js';

const definition = (rest: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name: 'echo',
  title: null,
  description: 'Echoes',
  inputSchema: { type: 'object', properties: { 'a/b~c': { type: 'string' } } },
  outputSchema: null,
  annotations: null,
  ...rest,
});

describe('definitionHash', () => {
  it.each<[string, Partial<ToolDefinition>]>([
    ['name', { name: 'Echo' }],
    ['title', { title: 'Echo' }],
    ['description', { description: 'echoes' }],
    ['inputSchema', { inputSchema: { type: 'object' } }],
    ['outputSchema', { outputSchema: {} }],
    ['annotations', { annotations: {} }],
  ])('changes with the %s', (_field, change) => {
    expect(definitionHash(definition(change))).not.toBe(definitionHash(definition()));
  });

  it('cannot be fooled by moving text from one field to the next', () => {
    expect(definitionHash(definition({ title: 'a', description: 'b' }))).not.toBe(
      definitionHash(definition({ title: 'ab', description: '' })),
    );
  });
});

describe('definitionChanges', () => {
  it('points into the definition with escaped JSON Pointers', () => {
    const after = definition({
      inputSchema: { type: 'object', properties: { 'a/b~c': { type: 'number' }, d: {} } },
    });
    expect(definitionChanges(definition(), after)).toEqual([
      { path: '/inputSchema/properties/a~1b~0c/type', before: '"string"', after: '"number"' },
      { path: '/inputSchema/properties/d', before: null, after: '{}' },
    ]);
  });

  it('cuts long values and long lists', () => {
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`p${index}`, 'x'.repeat(1_000)]),
    );
    const changes = definitionChanges(definition(), definition({ outputSchema: {}, annotations: many }));
    expect(changes.length).toBeLessThanOrEqual(50);
    expect(Math.max(...changes.map(({ after }) => after?.length ?? 0))).toBeLessThanOrEqual(501);
  });

  it('finds nothing where only the order of members differs', () => {
    const after = definition({
      inputSchema: { properties: { 'a/b~c': { type: 'string' } }, type: 'object' },
    });
    expect(definitionChanges(definition(), after)).toEqual([]);
  });
});
