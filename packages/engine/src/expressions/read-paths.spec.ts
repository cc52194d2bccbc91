import { describe, expect, it } from 'vitest';
import { pathsInExpression, pathsInJson, pathsInTemplate } from './read-paths.js';

const written = (paths: readonly (readonly string[])[]): string[] => paths.map((path) => path.join('/'));

describe('paths read', () => {
  it.each<[string, string[]]>([
    ['amount > 1000 && has(client.id)', ['amount', 'client/id']],
    ['items[0].price + items.size()', ['items/price', 'items']],
    ['fields["Credit Score"].value', ['fields/Credit Score/value']],
    ['rates[client.country].rate', ['rates', 'client/country']],
    ['items.exists(item, item.price > limit)', ['items', 'limit']],
    ['type(age) == int', ['age']],
    ['{"a": x, y: [z.q]}', ['x', 'y', 'z/q']],
    ['input.amount', ['input/amount']],
    ['client.name.startsWith(prefix)', ['client/name', 'prefix']],
    ['a =', []],
  ])('of %s', (source, paths) => {
    expect(written(pathsInExpression(source)).toSorted()).toEqual(paths.toSorted());
  });

  it('of templates, whose paths may use reserved words of CEL', () => {
    const source = 'Dear ${client.name}, ${in.for[0]["any name"]} ${amount * 2} $${no} ${true}';
    expect(written(pathsInTemplate(source))).toEqual(['client/name', 'in/for/any name', 'amount']);
    expect(pathsInTemplate('${never closed')).toEqual([]);
  });

  it('of JSON', () => {
    expect(written(pathsInJson({ a: ['${x.y}', 7, null], b: { c: '${z}' } })).toSorted()).toEqual([
      'x/y',
      'z',
    ]);
  });
});
