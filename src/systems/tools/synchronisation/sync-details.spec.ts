import { describe, expect, it } from 'vitest';
import { syncDetails } from './sync-details.js';
import type { ChangedTool, SyncReport } from '../model/tool.types.js';

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_none, index) => `${prefix}-${'n'.repeat(100)}-${index}`);

const report = (rest: Partial<SyncReport>): SyncReport => ({
  added: [],
  changed: [],
  removed: [],
  returned: [],
  disabledForReview: [],
  takenOver: [],
  ...rest,
});

let read = 0;
async function* differencesOf(changed: string[]): AsyncGenerator<ChangedTool> {
  for (const name of changed) {
    read += 1;
    yield await Promise.resolve({ name, changes: [{ path: '/description', before: '"ä"', after: '"ö"' }] });
  }
}

describe('syncDetails', () => {
  it('includes everything when it fits', async () => {
    const takenOver = [{ name: 'a', enabled: false, decidedBy: null, decidedAt: null }];
    const small = report({ added: ['a'], changed: ['b'], removed: ['c'], returned: ['d'], takenOver });
    expect(await syncDetails(small, ['description'], differencesOf(['b']), 4_096)).toEqual({
      ...small,
      changed: [{ name: 'b', changes: [{ path: '/description', before: '"ä"', after: '"ö"' }] }],
      fields: ['description'],
    });
  });

  it.each([4_096, 32_768])('stays below %i bytes and counts omitted entries', async (maxBytes) => {
    const changed = names('changed', 2_000);
    const large = report({ changed, added: names('added', 500), disabledForReview: [...changed] });
    read = 0;

    const details = await syncDetails(large, [], differencesOf(changed), maxBytes);

    const bytes = Buffer.byteLength(JSON.stringify(details));
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytes).toBeGreaterThan(maxBytes * 0.8);
    const detailed = details.changed.filter(({ changes }) => changes.length > 0).length;
    expect(detailed).toBeGreaterThan(5);
    expect(details.changed.map(({ name }) => name)).toEqual(changed.slice(0, details.changed.length));
    expect(details.omitted).toEqual({
      changed: 2_000 - details.changed.length,
      disabledForReview: 2_000 - details.disabledForReview.length,
      added: 500 - details.added.length,
    });
    // Stops reading when there is no more room.
    expect(read).toBe(detailed + 1);
  });

  it('includes the first differences of a tool when not all of them fit', async () => {
    const changes = Array.from({ length: 50 }, (_none, index) => ({
      path: `/inputSchema/properties/p${index}/description`,
      before: 'b'.repeat(500),
      after: 'a'.repeat(500),
    }));
    async function* one(): AsyncGenerator<ChangedTool> {
      yield await Promise.resolve({ name: 'one', changes });
    }
    const { changed, omitted } = await syncDetails(report({ changed: ['one'] }), [], one(), 8_192);
    expect(changed).toEqual([{ name: 'one', changes: changes.slice(0, 3) }]);
    expect(omitted).toBeUndefined();
  });
});
