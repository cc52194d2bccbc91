import { describe, expect, it } from 'vitest';
import type { ProcessGraph } from '#engine/definitions';
import type { EventRow } from '../storage/events.repository.js';
import { ElementStatistics } from './element-statistics.js';

const NODES = ['start', 'task', 'end'].map((key) => ({ key, name: null }));
const GRAPH = { nodes: NODES } as unknown as Pick<ProcessGraph, 'nodes'>;
const TASK = 1;

type TestEvent = [kind: EventRow['kind'], tokenId: number, msecs: number, to?: string];

const trail = (instanceId: number, ...events: TestEvent[]): EventRow[] =>
  events.map(([kind, tokenId, msecs, to], index) => ({
    instanceId,
    seq: index + 1,
    kind,
    tokenId,
    node: TASK,
    data: to === undefined ? null : { to },
    actor: null,
    requestId: null,
    at: new Date(1_000_000 + msecs),
  }));
/** Trail of an instance whose token was at the task for this long. */
const passed = (instanceId: number, msecs: number): EventRow[] =>
  trail(instanceId, ['NODE_ENTERED', instanceId, 0], ['NODE_LEFT', instanceId, msecs]);
const taskOf = (statistics: ElementStatistics) => statistics.figures()[TASK];

describe('ElementStatistics', () => {
  it('returns every element, including those never entered', () => {
    expect(new ElementStatistics(GRAPH).figures()).toEqual(
      NODES.map(({ key }) => ({
        bpmnElementId: key,
        name: null,
        entered: 0,
        standing: 0,
        visits: 0,
        medianMs: null,
        p95Ms: null,
        incidents: 0,
        openIncidents: 0,
        incidentRate: null,
      })),
    );
  });

  it('computes percentiles by the nearest rank', () => {
    const statistics = new ElementStatistics(GRAPH);
    for (let id = 1; id <= 100; id += 1) {
      statistics.addTrails(passed(id, 1_000 - id), new Set());
    }
    expect(taskOf(statistics)).toMatchObject({ entered: 100, visits: 100, medianMs: 949, p95Ms: 994 });
  });

  it('counts an instance once and each of its visits', () => {
    const statistics = new ElementStatistics(GRAPH);
    const events = trail(
      7,
      ['NODE_ENTERED', 1, 0],
      ['NODE_LEFT', 1, 10],
      ['NODE_ENTERED', 2, 20],
      ['NODE_ENTERED', 1, 20],
      ['NODE_LEFT', 1, 50],
    );
    statistics.addTrails(events, new Set([7]));
    expect(taskOf(statistics)).toMatchObject({ entered: 1, standing: 1, visits: 2, medianMs: 10, p95Ms: 30 });
  });

  it('counts tokens on hold as present, but not those that have ended or whose instance has ended', () => {
    const statistics = new ElementStatistics(GRAPH);
    statistics.addTrails(trail(1, ['NODE_ENTERED', 1, 0]), new Set());
    statistics.addTrails(trail(2, ['NODE_ENTERED', 2, 0], ['TOKEN_STATE', 2, 1, 'DISMISSED']), new Set([2]));
    expect(taskOf(statistics)).toMatchObject({ entered: 2, standing: 0, visits: 0 });
    statistics.addTrails(trail(3, ['NODE_ENTERED', 3, 0], ['TOKEN_STATE', 3, 1, 'ON_HOLD']), new Set([3]));
    expect(taskOf(statistics)).toMatchObject({ entered: 3, standing: 1 });
  });

  it('returns no negative times when clocks differ', () => {
    const statistics = new ElementStatistics(GRAPH);
    statistics.addTrails(passed(1, -5), new Set());
    expect(taskOf(statistics)).toMatchObject({ medianMs: 0 });
  });

  it('returns the share of instances with an incident among those that reached the element', () => {
    const statistics = new ElementStatistics(GRAPH);
    [1, 2, 3].forEach((id) => statistics.addTrails(passed(id, 1), new Set()));
    statistics.addIncident({ instanceId: 1, state: 'RESOLVED', element: 'task' });
    statistics.addIncident({ instanceId: 1, state: 'OPEN', element: 'task' });
    // The step of this instance was rolled back.
    statistics.addIncident({ instanceId: 4, state: 'OPEN', element: 'task' });
    // Affects the whole process.
    statistics.addIncident({ instanceId: 4, state: 'OPEN', element: null });
    expect(taskOf(statistics)).toMatchObject({ incidents: 3, openIncidents: 2, incidentRate: 0.5 });
  });
});
