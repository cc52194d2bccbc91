import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isEmpty, planSync, type SyncContext, type ToolRow } from './tool-sync.js';
import { definitionHash } from '../../common/tool-definition-hash.js';
import type { HashedDefinition, ToolChangePolicy, ToolDefinition } from './tool.types.js';

const NOW = new Date('2026-01-31T10:20:30.123Z');

const define = (name: string, description = ''): HashedDefinition => {
  const definition: ToolDefinition = {
    name,
    title: null,
    description,
    inputSchema: { type: 'object' },
    outputSchema: null,
    annotations: null,
  };
  return { ...definition, definitionHash: definitionHash(definition) };
};

let ids = 0;
const context = (isBaseline: boolean, policy: ToolChangePolicy = 'review'): SyncContext => ({
  systemId: 'system',
  isBaseline,
  policy,
  now: NOW,
  newId: () => `id-${(ids += 1)}`,
});

/** The rows as they are once the plan has been written. */
function apply(stored: ToolRow[], listed: HashedDefinition[], sync: SyncContext): ToolRow[] {
  const { rows, goneIds } = planSync(stored, listed, sync);
  const byName = new Map(
    stored.map((tool) => [tool.name, goneIds.includes(tool.id) ? { ...tool, present: false } : tool]),
  );
  rows.forEach((row) => byName.set(row.name, row));
  return [...byName.values()];
}

const list = fc.uniqueArray(
  fc.record({ name: fc.constantFrom(...'abcdef'), text: fc.constantFrom('1', '2') }),
  {
    selector: ({ name }) => name,
  },
);

describe('planSync', () => {
  it('keeps its promises through every sequence of lists', () => {
    fc.assert(
      fc.property(
        fc.array(list, { minLength: 1, maxLength: 8 }),
        fc.constantFrom<ToolChangePolicy>('review', 'accept'),
        (lists, policy) => {
          let tools: ToolRow[] = [];
          lists.forEach((entries, round) => {
            const listed = entries.map(({ name, text }) => define(name, text));
            const before = new Map(tools.map((tool) => [tool.name, tool]));
            tools = apply(tools, listed, context(round === 0, policy));
            const present = tools.filter((tool) => tool.present).toSorted((a, b) => a.position - b.position);
            // Exactly the server's list is shown, in its order and with its definitions.
            expect(present.map(({ name, description }) => [name, description])).toEqual(
              listed.map(({ name, description }) => [name, description]),
            );
            for (const [name, old] of before) {
              const tool = tools.find((row) => row.name === name);
              expect(tool?.id).toBe(old.id);
              // Nothing is ever enabled by a synchronisation, and what did not change keeps its flag.
              expect(!tool?.enabled || old.enabled).toBe(true);
              if (tool?.definitionHash === old.definitionHash) {
                expect(tool.enabled).toBe(old.enabled);
              }
            }
            for (const tool of present.filter(({ name }) => !before.has(name))) {
              expect(tool.enabled).toBe(round === 0 || policy === 'accept');
            }
          });
          // The same list again changes nothing.
          const last = lists.at(-1)!.map(({ name, text }) => define(name, text));
          const again = planSync(tools, last, context(false));
          expect(again).toMatchObject({ rows: [], goneIds: [], redefinitions: [] });
          expect(isEmpty(again.report)).toBe(true);
        },
      ),
    );
  });

  it('disables a tool that comes back with another definition', () => {
    const stored = apply(apply([], [define('a')], context(true)), [], context(false));
    const { rows, report } = planSync(stored, [define('a', 'new')], context(false));
    expect(rows[0]).toMatchObject({ enabled: false, present: true, description: 'new', modifiedAt: NOW });
    expect(report).toMatchObject({ returned: ['a'], disabledForReview: ['a'] });
    expect(report.changed).toEqual(['a']);
  });
});
