import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolDecisions } from '../model/tool-decisions.js';
import type { ToolRow } from '../storage/tool.entity.js';
import { isEmpty, planSync, type SyncContext } from './tool-sync.js';
import { definitionHash } from '../../../platform/json/tool-definition-hash.js';
import type {
  HashedDefinition,
  ToolChangePolicy,
  ToolDecision,
  ToolDefinition,
} from '../model/tool.types.js';

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
const context = (
  isFirst: boolean,
  policy: ToolChangePolicy = 'review-changes',
  decisions: readonly ToolDecision[] = [],
): SyncContext => ({
  systemId: 'system',
  isFirst,
  decisions,
  policy,
  now: NOW,
  newId: () => `id-${(ids += 1)}`,
});

/** Returns the rows after the plan has been applied. */
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
  it('keeps its invariants for all sequences of lists', () => {
    fc.assert(
      fc.property(
        fc.array(list, { minLength: 1, maxLength: 8 }),
        fc.constantFrom<ToolChangePolicy>('review-changes', 'review', 'accept'),
        (lists, policy) => {
          let tools: ToolRow[] = [];
          lists.forEach((entries, round) => {
            const listed = entries.map(({ name, text }) => define(name, text));
            const before = new Map(tools.map((tool) => [tool.name, tool]));
            tools = apply(tools, listed, context(round === 0, policy));
            const present = tools.filter((tool) => tool.present).toSorted((a, b) => a.position - b.position);
            // The present tools are exactly the server's list, in its order and with its definitions.
            expect(present.map(({ name, description }) => [name, description])).toEqual(
              listed.map(({ name, description }) => [name, description]),
            );
            for (const [name, old] of before) {
              const tool = tools.find((row) => row.name === name);
              expect(tool?.id).toBe(old.id);
              // A synchronisation never enables a tool, and unchanged tools keep their flag.
              expect(!tool?.enabled || old.enabled).toBe(true);
              if (tool?.definitionHash === old.definitionHash) {
                expect(tool.enabled).toBe(old.enabled);
              }
            }
            for (const tool of present.filter(({ name }) => !before.has(name))) {
              expect(tool.enabled).toBe((round === 0 && policy === 'review-changes') || policy === 'accept');
            }
          });
          // The same list again changes nothing.
          const last = lists.at(-1)!.map(({ name, text }) => define(name, text));
          const again = planSync(tools, last, context(false));
          expect(again).toMatchObject({ rows: [], goneIds: [], redefinitions: [] });
          // With its decisions stored, it makes no new ones.
          expect(planSync(tools, last, context(false, policy, again.decisions)).decisions).toEqual([]);
          expect(isEmpty(again.report)).toBe(true);
        },
      ),
    );
  });

  it('disables a tool that returns with a different definition', () => {
    const stored = apply(apply([], [define('a')], context(true)), [], context(false));
    const { rows, report } = planSync(stored, [define('a', 'new')], context(false));
    expect(rows[0]).toMatchObject({ enabled: false, present: true, description: 'new', modifiedAt: NOW });
    expect(report).toMatchObject({ returned: ['a'], disabledForReview: ['a'] });
    expect(report.changed).toEqual(['a']);
  });

  const jane = { firstName: 'Jane', lastName: 'Doe', userName: 'jane', impersonatingUser: null };
  const decision = (definition: HashedDefinition, enabled: boolean, byJane = true): ToolDecision => ({
    name: definition.name,
    definitionHash: definition.definitionHash,
    enabled,
    decidedBy: byJane ? jane : null,
    decidedAt: new Date(NOW.getTime() - 1_000),
  });

  it.each<ToolChangePolicy>(['review-changes', 'accept'])(
    'inherits decisions, under the policy %s',
    (policy) => {
      const decisions = [decision(define('off'), false), decision(define('on'), true)];
      const plan = planSync([], [define('off'), define('on')], context(false, policy, decisions));
      expect(plan.rows.map(({ name, enabled, decidedBy }) => [name, enabled, decidedBy])).toEqual([
        ['off', false, jane],
        ['on', true, jane],
      ]);
      expect(plan.decisions).toEqual([]);
      expect(plan.report).toMatchObject({ added: ['off', 'on'], disabledForReview: [] });
      expect(plan.report.takenOver.map(({ name, enabled }) => [name, enabled])).toEqual([
        ['off', false],
        ['on', true],
      ]);
    },
  );

  it('reports tools that no person decided about for review', () => {
    const decisions = [decision(define('a'), false, false)];
    const { report } = planSync([], [define('a')], context(false, 'review-changes', decisions));
    expect(report).toMatchObject({ disabledForReview: ['a'], takenOver: [{ name: 'a', decidedBy: null }] });
  });

  it.each<[ToolChangePolicy, boolean[]]>([
    ['review-changes', [false, false, false]],
    ['accept', [true, false, true]],
  ])('applies the policy %s to changed definitions and new names', (policy, flags) => {
    const decisions = [decision(define('on'), true), decision(define('off'), false)];
    const listed = [define('on', 'other'), define('off', 'other'), define('new')];
    const plan = planSync([], listed, context(false, policy, decisions));
    expect(plan.rows.map(({ enabled }) => enabled)).toEqual(flags);
    expect(
      plan.decisions.map(({ enabled, decidedBy, decidedAt }) => [enabled, decidedBy, decidedAt]),
    ).toEqual(flags.map((enabled) => [enabled, null, NOW]));
  });

  it('keeps the decision of a person about a definition that appears in another version', () => {
    const stored = apply([], [define('a')], context(true));
    const listed = [define('a', 'other')];
    const decided = planSync(stored, listed, context(false, 'review-changes', [decision(listed[0]!, true)]));
    expect(decided.rows).toMatchObject([{ enabled: false, decidedBy: null }]);
    expect(decided.decisions).toEqual([]);
    const ruled = planSync(
      stored,
      listed,
      context(false, 'review-changes', [decision(listed[0]!, true, false)]),
    );
    expect(ruled.decisions).toMatchObject([{ enabled: false, decidedBy: null }]);
  });

  it('disables a tool whose new definition was disabled elsewhere, even under the policy accept', () => {
    const stored = apply([], [define('a')], context(true));
    const listed = [define('a', 'other')];
    const plan = planSync(stored, listed, context(false, 'accept', [decision(listed[0]!, false)]));
    expect(plan.rows).toMatchObject([{ enabled: false, decidedBy: jane }]);
    expect(plan.report).toMatchObject({ changed: ['a'], disabledForReview: ['a'] });
    const ruled = planSync(stored, listed, context(false, 'accept', [decision(listed[0]!, false, false)]));
    expect(ruled.rows).toMatchObject([{ enabled: false, decidedBy: null, decidedAt: NOW }]);
    expect(ruled.decisions).toMatchObject([{ enabled: false, decidedBy: null, decidedAt: NOW }]);
  });
});

describe('ToolDecisions', () => {
  it('returns the most recent decision of a name, or at equal times the one that disabled the tool', () => {
    const at = (definitionHash: string, enabled: boolean, time: number | null): ToolDecision => ({
      name: 'a',
      definitionHash,
      enabled,
      decidedBy: null,
      decidedAt: time === null ? null : new Date(time),
    });
    const latest = (...decisions: ToolDecision[]) => new ToolDecisions(decisions).latest('a')?.definitionHash;
    expect(latest(at('1', true, 2), at('2', false, 1), at('3', false, null))).toBe('1');
    expect(latest(at('1', true, null), at('2', false, null), at('3', true, null))).toBe('2');
    expect(latest()).toBeUndefined();
  });
});
