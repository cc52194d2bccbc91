import { describe, expect, it } from 'vitest';
import { definitionHash } from '../../../platform/json/tool-definition-hash.js';
import { definitionChanges } from './tool-definition.js';
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

  it('changes when text moves from one field to the next', () => {
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

  it('truncates long values and long lists', () => {
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`p${index}`, 'x'.repeat(1_000)]),
    );
    const changes = definitionChanges(definition(), definition({ outputSchema: {}, annotations: many }));
    expect(changes.length).toBeLessThanOrEqual(50);
    expect(Math.max(...changes.map(({ after }) => after?.length ?? 0))).toBeLessThanOrEqual(501);
  });

  it('truncates long paths', () => {
    const after = definition({ annotations: { ['n'.repeat(50_000)]: { a: 1 } } });
    const changes = definitionChanges(definition({ annotations: { ['n'.repeat(50_000)]: { a: 2 } } }), after);
    expect(changes).toEqual([{ path: `/annotations/${'n'.repeat(187)}…`, before: '2', after: '1' }]);
  });

  it.each([0, 1])('never splits a surrogate pair when it truncates (offset %i)', (offset) => {
    const text = `${'x'.repeat(offset)}${'😀'.repeat(600)}`;
    const [change] = definitionChanges(definition({ description: text }), definition());
    expect(change?.before).toMatch(/^"x*(😀)+…$/u);
    const named = definition({ annotations: { [text]: 1 } });
    const [path] = definitionChanges(named, definition({ annotations: {} }));
    expect(path?.path).toMatch(/^\/annotations\/x*(😀)+…$/u);
  });

  it('returns no more differences than the limit', () => {
    const after = definition({ title: 'a', description: 'b', annotations: {} });
    expect(definitionChanges(definition(), after, 2).map(({ path }) => path)).toEqual([
      '/title',
      '/description',
    ]);
  });

  it('ignores the order of members', () => {
    const after = definition({
      inputSchema: { properties: { 'a/b~c': { type: 'string' } }, type: 'object' },
    });
    expect(definitionChanges(definition(), after)).toEqual([]);
  });
});
