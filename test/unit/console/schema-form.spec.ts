import { describe, expect, it } from 'vitest';
import {
  initialValue,
  isForm,
  kindOf,
  resolved,
  type Schema,
} from '../../../packages/console/src/parts/schema-form/schema.js';

const named = (names: number, part: Schema): Record<string, Schema> =>
  Object.fromEntries(Array.from({ length: names }, (_, index) => [`p${index}`, part]));

describe('a form of a schema', () => {
  it('supports a recursive schema, and initially contains only required members', () => {
    const tree: Schema = {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', default: 'root' }, next: { $ref: '#' } },
    };
    expect(isForm(tree)).toBe(true);
    expect(initialValue(tree)).toEqual({ name: 'root' });
  });

  it.each<[string, Schema]>([
    [
      'many required members that refer to the whole schema',
      { type: 'object', required: Object.keys(named(50, {})), properties: named(50, { $ref: '#' }) },
    ],
    ['a thousand members', { type: 'object', properties: named(1_000, { type: 'string' }) }],
    ['variants that refer to the schema', { oneOf: Array.from({ length: 50 }, () => ({ $ref: '#' })) }],
  ])('is not offered for %s, and computing its initial value is fast', (_, schema) => {
    expect(isForm(schema)).toBe(false);
    expect(JSON.stringify(initialValue(schema) ?? null).length).toBeLessThan(20_000);
  });

  it.each<[string, unknown]>([
    ['an enum that is not a list', { enum: 7 }],
    ['variants that are not a list', { oneOf: {} }],
    ['a reference with an invalid escape', { $ref: '#/%zz' }],
    ['a circular reference', { $ref: '#' }],
  ])('treats %s as any value', (_, schema) => {
    expect(kindOf(resolved(schema as Schema, schema as Schema))).toBe('json');
  });
});
