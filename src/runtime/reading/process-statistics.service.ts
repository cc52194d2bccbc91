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

const WITHOUT_FROM_MS = 7 * 24 * 3_600_000;

/** What is looked at for one answer, at the most. */
interface Most {
  instances: number;
  events: number;
  incidents: number;
  /** What one statement reads, about. Other requests have their turn in between. */
  idsAtOnce: number;
  eventsAtOnce: number;
}

/** Tells what the instances of a definition did, element by element (extension of the contract). */
@Injectable()
export class ProcessStatisticsService {
  private readonly most: Most = {
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

  /** Of the newest instances of a range. @throws BuildNotFoundError, ProcessDefinitionNotFoundError */
  async read(key: DefinitionKey, { from, to }: TimeRange): Promise<ProcessStatisticsDto> {
    const definition = await this.definitions.findDefinition(key.appId, key.buildId, key.processName);
    const bpmn = await this.builds.bpmn(key);
    const end = to ?? this.clock.now();
    const range = { from: from ?? new Date(end.getTime() - WITHOUT_FROM_MS), to };
    const found = await this.database.read((manager) =>
      this.instances.ofDefinition(manager, definition.id, range, this.most.instances + 1),
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

  /** @returns whether these were all incidents */
  private async add(statistics: ElementStatistics, trails: readonly InstanceTrailHead[]): Promise<boolean> {
    const live = new Set(trails.filter(({ state }) => !hasEnded(state)).map(({ id }) => id));
    let [left, areAll] = [this.most.incidents, true];
    for (const ids of inReadings(trails, this.most)) {
      const { events, incidents } = await this.database.read(async (manager) => ({
        events: await Events.ofKinds(manager, ids, COUNTED_EVENTS),
        incidents: await IncidentLists.stops(manager, ids, left + 1),
      }));
      statistics.addTrails(events, live);
      incidents.slice(0, left).forEach((incident) => statistics.addIncident(incident));
      areAll &&= incidents.length <= left;
      left = Math.max(0, left - incidents.length);
    }
    return areAll;
  }

  /** The first of them that are not too many; one whose trail does not fit any more is left out. */
  private bounded(found: readonly InstanceTrailHead[]): InstanceTrailHead[] {
    let events = 0;
    return found.slice(0, this.most.instances).filter(({ seq }) => {
      const fits = events + seq <= this.most.events;
      events += fits ? seq : 0;
      return fits;
    });
  }
}

/** Their ids in parts, each for one statement of a kind. */
function* inReadings(
  trails: readonly InstanceTrailHead[],
  { idsAtOnce, eventsAtOnce }: Most,
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
