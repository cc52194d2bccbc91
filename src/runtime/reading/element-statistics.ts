import type { ProcessGraph } from '#engine/definitions';
import type { EventRow } from '../storage/events.repository.js';
import type { StoppedAt } from '../storage/incident-lists.repository.js';
import type { ElementStatisticsDto } from './process-statistics.dto.js';

/** Event kinds used for element statistics. */
export const COUNTED_EVENTS = ['NODE_ENTERED', 'NODE_LEFT', 'TOKEN_STATE'] as const;

/** Collected figures of one element. The sets hold instance ids. */
interface Element {
  readonly entered: Set<number>;
  readonly standing: Set<number>;
  readonly stopped: Set<number>;
  readonly times: number[];
  incidents: number;
  openIncidents: number;
}

interface Visit {
  readonly element: Element;
  readonly instanceId: number;
  readonly since: Date;
}

const MEDIAN = 0.5;
const P95 = 0.95;
/** States of tokens that are at a node. */
const AT_NODE: ReadonlySet<unknown> = new Set(['ACTIVE', 'ON_HOLD']);

/** Collects statistics for each element of a process definition. */
export class ElementStatistics {
  private readonly elements: readonly Element[];
  private readonly byKey: ReadonlyMap<string, Element>;

  constructor(private readonly graph: Pick<ProcessGraph, 'nodes'>) {
    this.elements = graph.nodes.map((): Element => ({
      entered: new Set(),
      standing: new Set(),
      stopped: new Set(),
      times: [],
      incidents: 0,
      openIncidents: 0,
    }));
    this.byKey = new Map(this.elements.map((element, index) => [graph.nodes[index]?.key ?? '', element]));
  }

  /**
   * Adds the audit trails of instances.
   * @param events complete trails, oldest event first for each instance
   * @param live instances that have not ended
   */
  addTrails(events: readonly EventRow[], live: ReadonlySet<number>): void {
    /** Open visits by token id, which is unique across instances. */
    const visits = new Map<number, Visit>();
    for (const event of events) {
      this.follow(visits, event);
    }
    for (const { element, instanceId } of visits.values()) {
      if (live.has(instanceId)) {
        element.standing.add(instanceId);
      }
    }
  }

  addIncident({ instanceId, state, element: key }: StoppedAt): void {
    const element = key === null ? undefined : this.byKey.get(key);
    if (element !== undefined) {
      element.stopped.add(instanceId);
      element.incidents += 1;
      element.openIncidents += Number(state === 'OPEN');
    }
  }

  /** Returns the figures of every element, in file order. */
  figures(): ElementStatisticsDto[] {
    return this.graph.nodes.flatMap(({ key, name }, index) => {
      const element = this.elements[index];
      return element === undefined ? [] : [{ bpmnElementId: key, name, ...figuresOf(element) }];
    });
  }

  private follow(visits: Map<number, Visit>, { kind, instanceId, tokenId, node, at, data }: EventRow): void {
    const element = this.elements[node ?? -1];
    if (tokenId === null || element === undefined) {
      return;
    }
    if (kind === 'NODE_ENTERED') {
      element.entered.add(instanceId);
      visits.set(tokenId, { element, instanceId, since: at });
    } else if (kind === 'NODE_LEFT') {
      const visit = visits.get(tokenId);
      visits.delete(tokenId);
      if (visit?.element === element) {
        // Clocks of replicas may differ.
        element.times.push(Math.max(0, at.getTime() - visit.since.getTime()));
      }
    } else if (!AT_NODE.has(data?.['to'])) {
      visits.delete(tokenId);
    }
  }
}

function figuresOf(element: Element): Omit<ElementStatisticsDto, 'bpmnElementId' | 'name'> {
  const { entered, standing, stopped, incidents, openIncidents } = element;
  const times = element.times.toSorted((one, other) => one - other);
  // A failed step is rolled back, so stopped instances may have no NODE_ENTERED event.
  const reached = new Set([...entered, ...stopped]).size;
  return {
    entered: entered.size,
    standing: standing.size,
    visits: times.length,
    medianMs: percentile(times, MEDIAN),
    p95Ms: percentile(times, P95),
    incidents,
    openIncidents,
    incidentRate: reached === 0 ? null : stopped.size / reached,
  };
}

/** Returns a percentile by the nearest-rank method; null for an empty list. */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
