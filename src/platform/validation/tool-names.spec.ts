import { describe, expect, it } from 'vitest';
import { toolNames, type NamedTool } from './tool-names.js';

const tool = (resourceName: string, toolName: string, appId = 'app'): NamedTool => ({
  appId,
  resourceDefinitionId: `${appId}-${resourceName}`,
  resourceName,
  toolName,
});

describe('toolNames', () => {
  it('combines system and tool', () => {
    expect(toolNames([tool('stock', 'get-item'), tool('mail', 'send')])).toEqual([
      'stock__get-item',
      'mail__send',
    ]);
  });

  it.each([
    [
      'characters that models reject',
      tool('my.stock[1]', 'get/item'),
      /^my_stock_1___get_item_[0-9a-f]{10}$/,
    ],
    ['a name that is too long', tool('s'.repeat(60), 'get'), /^s{53}_[0-9a-f]{10}$/],
    ['a name of another script', tool('stock', '天気を取得'), /^stock________[0-9a-f]{10}$/],
    ['a letter of another alphabet', tool('stock', 'größe'), /^stock__gr__e_[0-9a-f]{10}$/],
  ])('adds a fingerprint for %s', (_case, named, expected) => {
    const [name] = toolNames([named]);
    expect(name).toMatch(expected);
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it('keeps a plain name apart from an equal fingerprinted name', () => {
    const changed = tool('a', 'b.c');
    const [name = ''] = toolNames([changed]);
    const same = tool('a', name.slice('a__'.length));
    const names = toolNames([changed, same]);
    expect(names[0]).toBe(name);
    expect(names[1]).not.toBe(name);
  });

  it('returns unique names that do not depend on the order of tools', () => {
    const tools = [
      tool('a', 'b__c'),
      tool('a__b', 'c'),
      tool('a', 'b.c'),
      tool('a', 'b/c'),
      tool('a', '天気'),
      tool('a', '料金'),
      tool('a', 'x', 'library'),
      tool('a', 'x'),
    ];
    const names = toolNames(tools);
    expect(new Set(names).size).toBe(tools.length);
    expect(toolNames(tools.toReversed())).toEqual(names.toReversed());
    expect(names[0]).toMatch(/^a__b__c_[0-9a-f]{10}$/);
  });
});
