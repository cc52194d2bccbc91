import { describe, expect, it } from 'vitest';
import { unicodeClassesMade } from '#engine/expressions';
import { TestGraph } from '../../../packages/engine/test/tokens/graph-builder.js';
import { limitedEnv } from '../../../test/support/limits/limits.js';
import type { BuildDefinitionsService } from '../../delivery/builds/contents/build-definitions.service.js';
import { BuildStatus, type BuildDefinition } from '../../delivery/builds/model/builds.types.js';
import { RunnableDefinitionsService } from './runnable-definitions.service.js';

function definition(id: number, condition: string): BuildDefinition {
  const graph = new TestGraph()
    .start()
    .xor('x')
    .user('a')
    .user('b')
    .flow('start -> x -> a default', `x -> b ? ${condition}`)
    .build();
  return {
    id,
    graph,
    hash: '',
    graphLength: JSON.stringify(graph).length,
    name: 'p',
    svcUuid: 'p',
    appId: 'a',
    buildId: 'b',
    buildStatus: BuildStatus.Committed,
    parentApplicationId: null,
    rootApplicationId: 'a',
  };
}

function serviceWith(bytes: number): RunnableDefinitionsService {
  limitedEnv('maintenance', { 'processLimits.definitionCacheBytes': String(bytes) });
  const builds = { verifyDefinition: () => Promise.resolve() } as unknown as BuildDefinitionsService;
  return new RunnableDefinitionsService(builds);
}

describe('cache of runnable definitions', () => {
  it('evicts the least recently used when the byte limit is exceeded', async () => {
    const service = serviceWith(100_000);
    const held = () => [1, 2, 3, 4].filter((id) => service.held(id) !== undefined);
    const first = await service.of(definition(1, 'a > 1'));
    await service.of(definition(2, 'a > 1'));
    expect(held()).toEqual([1, 2]);
    expect(await service.of(first.build)).toBe(first);
    await service.of(definition(3, 'a > 1'));
    expect(service.held(1)).toBe(first);
    // A long condition needs much memory once compiled.
    await service.of(definition(4, `a > ${'1 + '.repeat(100)}1`));
    expect(held()).toEqual([4]);
  });

  it('limits bytes and not the number of definitions', async () => {
    const service = serviceWith(10_000_000);
    for (let id = 1; id <= 100; id += 1) {
      await service.of(definition(id, 'a > 1'));
    }
    expect(service.held(1)).toBeDefined();
  });
});

describe('tables of Unicode classes', () => {
  const tablesBuiltFor = async (condition: string): Promise<number> => {
    const before = unicodeClassesMade();
    await serviceWith(10_000_000).of(definition(1, condition));
    return unicodeClassesMade() - before;
  };

  it('are built before a definition is compiled that names them', async () => {
    expect(await tablesBuiltFor(String.raw`'a'.matches('[\p{Coptic}\p{Runic}\p{Nowhere}]')`)).toBe(2);
  });

  it('are built for the common classes only where a pattern comes from data', async () => {
    expect(await tablesBuiltFor(`a.matches('x') || a.matches( r"y")`)).toBe(0);
    expect(await tablesBuiltFor(`a.matches('x' + b)`)).toBe(8);
  });
});
