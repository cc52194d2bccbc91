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
  it('is one for a schema that names itself, and begins with what must be there', () => {
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
      'parts that must be there and name the whole several times',
      { type: 'object', required: Object.keys(named(50, {})), properties: named(50, { $ref: '#' }) },
    ],
    ['a thousand members', { type: 'object', properties: named(1_000, { type: 'string' }) }],
    ['variants of itself', { oneOf: Array.from({ length: 50 }, () => ({ $ref: '#' })) }],
  ])('is none for %s, and what it begins with is there at once', (_, schema) => {
    expect(isForm(schema)).toBe(false);
    expect(JSON.stringify(initialValue(schema) ?? null).length).toBeLessThan(20_000);
  });

  it.each<[string, unknown]>([
    ['a list of values that is none', { enum: 7 }],
    ['variants that are no list', { oneOf: {} }],
    ['a reference with a broken escape', { $ref: '#/%zz' }],
    ['a reference that leads in a circle', { $ref: '#' }],
  ])('takes %s for any value', (_, schema) => {
    expect(kindOf(resolved(schema as Schema, schema as Schema))).toBe('json');
  });
});
