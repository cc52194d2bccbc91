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
  const requested: (string | undefined)[] = [];
  const pages = (): AsyncGenerator<Page> => {
    requested.length = 0;
    return pagesOf(({ before }) => {
      requested.push(before);
      return Promise.resolve({ data: PAGES[before ?? ''] as Page });
    });
  };

  it('reads all pages, even after an empty page', async () => {
    const items: string[] = [];
    for await (const page of pages()) {
      items.push(...page.items);
    }
    expect(items).toEqual(['a', 'b', 'd']);
    expect(requested).toEqual([undefined, 'b', 'c']);
  });

  it('requests no further pages after the loop ends', async () => {
    for await (const page of pages()) {
      expect(page.items).toEqual(['a', 'b']);
      break;
    }
    expect(requested).toEqual([undefined]);
  });

  it('rejects with the error of a failed page', async () => {
    const refused = pagesOf<Page>(() => Promise.reject(new Error('refused')));
    await expect(refused.next()).rejects.toThrow('refused');
  });
});
