import { describe, expect, it } from 'vitest';
import { pagesOf } from '../../packages/client/src/index.js';

interface Page {
  items: string[];
  next: string | null;
}
const PAGES: Readonly<Record<string, Page>> = {
  '': { items: ['a', 'b'], next: 'b' },
  b: { items: [], next: 'c' },
  c: { items: ['d'], next: null },
};

describe('pagesOf', () => {
  const asked: (string | undefined)[] = [];
  const pages = (): AsyncGenerator<Page> => {
    asked.length = 0;
    return pagesOf(({ before }) => {
      asked.push(before);
      return Promise.resolve({ data: PAGES[before ?? ''] as Page });
    });
  };

  it('reads all pages, also behind an empty one', async () => {
    const items: string[] = [];
    for await (const page of pages()) {
      items.push(...page.items);
    }
    expect(items).toEqual(['a', 'b', 'd']);
    expect(asked).toEqual([undefined, 'b', 'c']);
  });

  it('asks for no more than the loop wants', async () => {
    for await (const page of pages()) {
      expect(page.items).toEqual(['a', 'b']);
      break;
    }
    expect(asked).toEqual([undefined]);
  });

  it('is rejected with what a page is refused with', async () => {
    const refused = pagesOf<Page>(() => Promise.reject(new Error('refused')));
    await expect(refused.next()).rejects.toThrow('refused');
  });
});
