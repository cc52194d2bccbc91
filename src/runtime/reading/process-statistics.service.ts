import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../store/database.js';
import type { TimeRange } from '../../store/tables/conditions.js';
import { BuildDefinitionsService } from '../../delivery/builds/contents/build-definitions.service.js';
import { BuildReadsService } from '../../delivery/builds/contents/build-reads.service.js';
import type { DefinitionKey } from '../../delivery/builds/model/builds.types.js';
import { hasEnded } from '../steps/instance-status.js';
import { Events } from '../storage/events.repository.js';
import { IncidentLists } from '../storage/incident-lists.repository.js';
import { InstanceListsRepository, type InstanceTrailHead } from '../storage/instance-lists.repository.js';
import { COUNTED_EVENTS, ElementStatistics } from './element-statistics.js';
import type { ProcessStatisticsDto } from './process-statistics.dto.js';
import { processLimits } from '../process.limits.js';

const DEFAULT_RANGE_MS = 7 * 24 * 3_600_000;

/** Limits of one response. */
interface StatisticsLimits {
  instances: number;
  events: number;
  incidents: number;
  /** Approximate amounts per statement; other requests are served in between. */
  idsAtOnce: number;
  eventsAtOnce: number;
}

/** Computes statistics of a process by element (extension of the contract). */
@Injectable()
export class ProcessStatisticsService {
  private readonly limits: StatisticsLimits = {
    instances: processLimits.statisticsInstances,
    events: processLimits.statisticsEvents,
    incidents: processLimits.statisticsInstances,
    idsAtOnce: 1_000,
    eventsAtOnce: 5_000,
  };

  constructor(
    private readonly definitions: BuildDefinitionsService,
    private readonly builds: BuildReadsService,
    private readonly instances: InstanceListsRepository,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Computes the statistics of the newest instances in a time range. @throws BuildNotFoundError, ProcessDefinitionNotFoundError */
  async read(key: DefinitionKey, { from, to }: TimeRange): Promise<ProcessStatisticsDto> {
    const definition = await this.definitions.findDefinition(key.appId, key.buildId, key.processName);
    const bpmn = await this.builds.bpmn(key);
    const end = to ?? this.clock.now();
    const range = { from: from ?? new Date(end.getTime() - DEFAULT_RANGE_MS), to };
    const found = await this.database.read((manager) =>
      this.instances.ofDefinition(manager, definition.id, range, this.limits.instances + 1),
    );
    const trails = this.bounded(found);
    const statistics = new ElementStatistics(definition.graph);
    const hasAllIncidents = await this.add(statistics, trails);
    return {
      from: range.from.toISOString(),
      to: end.toISOString(),
      instances: trails.length,
      complete: trails.length === found.length && hasAllIncidents,
      elements: statistics.figures(),
      bpmn,
    };
  }

  /** @returns whether all incidents were included */
  private async add(statistics: ElementStatistics, trails: readonly InstanceTrailHead[]): Promise<boolean> {
    const live = new Set(trails.filter(({ state }) => !hasEnded(state)).map(({ id }) => id));
    let [left, areAll] = [this.limits.incidents, true];
    for (const ids of inBatches(trails, this.limits)) {
      const { events, incidents } = await this.database.read(async (manager) => ({
        events: await Events.ofKinds(manager, ids, COUNTED_EVENTS),
        incidents: await IncidentLists.incidentsOf(manager, ids, left + 1),
      }));
      statistics.addTrails(events, live);
      incidents.slice(0, left).forEach((incident) => statistics.addIncident(incident));
      areAll &&= incidents.length <= left;
      left = Math.max(0, left - incidents.length);
    }
    return areAll;
  }

  /** Returns the newest instances within the limits, without those whose trails no longer fit. */
  private bounded(found: readonly InstanceTrailHead[]): InstanceTrailHead[] {
    let events = 0;
    return found.slice(0, this.limits.instances).filter(({ seq }) => {
      const fits = events + seq <= this.limits.events;
      events += fits ? seq : 0;
      return fits;
    });
  }
}

/** Splits instance ids into batches for one statement each. */
function* inBatches(
  trails: readonly InstanceTrailHead[],
  { idsAtOnce, eventsAtOnce }: StatisticsLimits,
): Generator<number[]> {
  let [ids, events]: [number[], number] = [[], 0];
  for (const { id, seq } of trails) {
    if (ids.length === idsAtOnce || (ids.length > 0 && events + seq > eventsAtOnce)) {
      yield ids;
      [ids, events] = [[], 0];
    }
    ids.push(id);
    events += seq;
  }
  if (ids.length > 0) {
    yield ids;
  }
}
