import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  callerOf,
  PERMISSIONS,
  guardedRoutes,
  OPERATIONS,
  pathOf,
} from '../../tools/proofs/support/rights-operations.js';
import { Random } from '../../packages/engine/test/support/random.js';

const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as Parameters<typeof guardedRoutes>[0];

describe('the proof of rights', () => {
  it('covers exactly the operations that require a token', () => {
    const ids = guardedRoutes(document).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(40);
    expect(ids.toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
  });

  it('treats an operation as scoped to an application exactly if its path contains one', () => {
    const wrong = guardedRoutes(document).filter(
      ({ id, template }) => (OPERATIONS[id]?.place === 'path') !== template.includes('{appId}'),
    );
    expect(wrong).toEqual([]);
  });

  it('fills in paths', () => {
    const route = { id: 'x', method: 'GET', template: '/a/{one}/b/{two}' };
    expect(pathOf(route, { one: 'a/b' })).toBe('/a/a%2Fb/b/none');
  });

  it('has callers with all, some and no applications for each permission', () => {
    const random = new Random(1);
    const callers = Array.from({ length: 1_000 }, (_, index) => callerOf(random, `caller-${index}`));
    for (const permission of PERMISSIONS) {
      const sizes = callers.map(({ granted }) => granted.get(permission)?.size);
      expect([...new Set(sizes)]).toEqual(expect.arrayContaining([0, 1, 2, 4]));
    }
  });
});
