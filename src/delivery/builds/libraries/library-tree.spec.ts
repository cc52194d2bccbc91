import { describe, expect, it } from 'vitest';
import { libraryTree, type DirectLibrary } from './library-tree.js';

const direct = (index: number, name: string, libraries: DirectLibrary['libraries'] = []): DirectLibrary => {
  const [appId = '', buildId = ''] = name.split('@');
  return { index, appId, buildId, libraries };
};
const own = (name: string, level: number) => {
  const [appId = '', buildId = ''] = name.split('@');
  return { appId, buildId, level };
};

describe('libraryTree', () => {
  it('is empty without libraries', () => {
    expect(libraryTree('app', [])).toEqual({ tree: [], problems: [] });
  });

  it('contains every library once, at its lowest level, regardless of their order', () => {
    const one = direct(0, 'a@1', [own('b@1', 1), own('c@1', 2)]);
    const two = direct(1, 'b@1', [own('c@1', 1)]);
    for (const libraries of [
      [one, two],
      [two, one],
    ]) {
      const { tree, problems } = libraryTree('app', libraries);
      expect(problems).toEqual([]);
      expect(tree.toSorted((some, other) => (some.appId < other.appId ? -1 : 1))).toEqual([
        own('a@1', 1),
        own('b@1', 1),
        own('c@1', 2),
      ]);
    }
  });

  it('reports the library that depends on a second build, or on the application itself', () => {
    const { problems } = libraryTree('app', [
      direct(0, 'a@1', [own('c@1', 1)]),
      direct(1, 'b@1', [own('c@2', 1), own('app@1', 3)]),
    ]);
    expect(problems.map(({ code, element }) => [code, element])).toEqual([
      ['LIBRARY_TWICE', '/libraries/1'],
      ['LIBRARY_CYCLE', '/libraries/1'],
    ]);
  });

  it('leaves mistakes in the package itself to the check of the package', () => {
    expect(libraryTree('app', [direct(0, 'app@1'), direct(1, 'a@1'), direct(2, 'a@2')]).problems).toEqual([]);
  });
});
