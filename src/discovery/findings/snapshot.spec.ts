import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  component,
  histories,
  PlatformModel,
  toChecked,
} from '../../../test/support/discovery/fake-platform.js';
import type { Component } from '../model/component.types.js';
import type { ProbeFinding } from '../model/probe.js';
import type { CheckedComponent } from '../model/scan.types.js';
import { compare, type Snapshot } from './snapshot.js';

const stored = (snapshot: Snapshot): Snapshot => JSON.parse(JSON.stringify(snapshot)) as Snapshot;

function checked(overrides: Partial<Component> = {}, finding: ProbeFinding | null = {}): CheckedComponent {
  return {
    component: component('a', overrides),
    outcome:
      finding === null
        ? { status: 'unhealthy', failure: 'timeout', detail: null }
        : { status: 'healthy', finding },
    checkedAt: new Date(0),
    tookMs: 1,
    timeoutMs: 100,
  };
}

/** Compares scans of one component with each other. */
function changesBetween(first: CheckedComponent, ...others: CheckedComponent[]): string[][] {
  let { snapshot } = compare(null, [first]);
  return others.map((other) => {
    const comparison = compare(stored(snapshot), [other]);
    snapshot = comparison.snapshot;
    return comparison.changes.map(({ event }) => event);
  });
}

describe('compare', () => {
  it('counts correctly for any sequence of additions, removals, changes and failures', () => {
    fc.assert(
      fc.property(histories, (scans) => {
        const model = new PlatformModel();
        let last: Snapshot | null = null;
        for (const events of scans) {
          events.forEach((event) => model.apply(event));
          const expected = model.scan();
          const comparison = compare(last, model.components.map(toChecked));
          const { newServices, configurationChanges, changes } = comparison;
          expect({ newServices, configurationChanges }).toEqual(expected);
          const reported = changes.filter(({ event }) => event === 'changed' || event === 'removed');
          expect(reported).toHaveLength(configurationChanges);
          last = stored(comparison.snapshot);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('treats everything in the first scan as new', () => {
    const { newServices, configurationChanges, changes } = compare(null, [checked()]);
    expect({ newServices, configurationChanges }).toEqual({ newServices: 1, configurationChanges: 0 });
    expect(changes).toEqual([
      { component: { map: 'services', key: 'a' }, event: 'added', status: 'healthy', failure: null },
    ]);
  });

  it.each([
    ['the kind', { kind: 'nats' }],
    ['the name', { name: 'Other' }],
    ['the endpoint', { endpoint: 'https://other.example.com' }],
    ['the source', { source: 'consul' }],
    ['a tag', { tags: ['blue'] }],
    ['the declared version', { version: '2.0' }],
    ['the declared capabilities', { capabilities: ['search'] }],
  ] as const)('detects a change of %s', (_name, overrides) => {
    expect(changesBetween(checked(), checked(overrides))).toEqual([['changed']]);
  });

  it.each([
    ['version', { version: '2' }, { version: '3' }],
    ['capabilities', { capabilities: ['a'] }, { capabilities: ['a', 'b'] }],
    ['type', { type: 'redis' }, { type: 'valkey' }],
    ['name', { name: 'One' }, { name: 'Two' }],
  ] as const)('detects a change of the reported %s', (_name, first, second) => {
    expect(changesBetween(checked({ isNamed: false }, first), checked({ isNamed: false }, second))).toEqual([
      ['changed'],
    ]);
  });

  it('ignores numbers, credentials, times, order and trust', () => {
    const first = checked({ tags: ['x', 'y'] }, { capabilities: ['b', 'a'], brokers: 3, warnings: [] });
    const second = checked(
      {
        tags: ['y', 'x'],
        timeoutMs: 50,
        trust: 'registered',
        options: { healthPath: '/x' },
        credentials: { password: 'other' },
      },
      { capabilities: ['a', 'b'], brokers: 2, warnings: [{ code: 'degraded' }] },
    );
    expect(changesBetween(first, { ...second, tookMs: 99, checkedAt: new Date(1) })).toEqual([[]]);
  });

  it('treats failure and recovery as changes of status only', () => {
    const up = checked({}, { version: '1.2' });
    expect(changesBetween(up, checked({}, null), checked({}, null), up)).toEqual([
      ['unhealthy'],
      [],
      ['healthy'],
    ]);
  });

  it('reports changes made while a component was down once, after it recovers', () => {
    const back = checked({}, { version: '1.3' });
    expect(changesBetween(checked({}, { version: '1.2' }), checked({}, null), back, back)).toEqual([
      ['unhealthy'],
      ['changed', 'healthy'],
      [],
    ]);
  });

  it('does not treat the first report of a component as a change', () => {
    expect(changesBetween(checked({}, null), checked({}, { version: '1.2' }))).toEqual([['healthy']]);
  });

  it('forgets reports from another address', () => {
    const moved = { endpoint: 'http://b.example.com' };
    const scans = [checked({}, { version: '1.2' }), checked(moved, null), checked(moved, { version: '9' })];
    expect(changesBetween(scans[0]!, scans[1]!, scans[2]!)).toEqual([['changed', 'unhealthy'], ['healthy']]);
  });
});
