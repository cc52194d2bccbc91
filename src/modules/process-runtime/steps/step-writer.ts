import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { leaveGroup } from '../../../database/groups/write-group.js';
import type { InstanceState, StepResult, TokenState } from '../engine/state/engine.types.js';
import { outlives } from './runtime-job.js';
import { EventsRepository, type NewEvent } from '../storage/events.repository.js';
import { IncidentsRepository, type IncidentHead, type IncidentRow } from '../storage/incidents.repository.js';
import type { InstanceContent } from '../storage/instance-content.types.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { storeSearchValues } from '../storage/search-values.js';
import { TokensRepository } from '../storage/tokens.repository.js';
import { expiryAfter } from './expiry.js';
import { hasEnded, isReleased } from './instance-status.js';
import { JoinIncidents } from './join-incidents.js';
import { StepWork } from './step-work.js';
import type { RetriedIncident, StepBase, WriteContext } from './step.types.js';
import { tokenChanges } from './token-changes.js';

/** The last corrections of an instance that are shown with its data. */
const CORRECTIONS_SHOWN = 20;

/** What came of writing a step. */
export interface Written {
  hasWork: boolean;
  raised: readonly IncidentRow[];
}

/** Writes what a step changed, in the order in which everybody locks: instance, tokens, jobs, process family. */
@Injectable()
export class StepWriter {
  constructor(
    private readonly instances: InstancesRepository,
    private readonly tokens: TokensRepository,
    private readonly events: EventsRepository,
    private readonly incidents: IncidentsRepository,
    private readonly joins: JoinIncidents,
    private readonly work: StepWork,
  ) {}

  /**
   * @returns whether background jobs were added: then wake the workers after the commit; and the incidents that were raised
   * @throws EngineIncident when the process family would exceed its limits
   */
  async write(
    manager: EntityManager,
    base: StepBase,
    result: StepResult,
    context: WriteContext,
  ): Promise<Written> {
    if (this.isAlone(base, result)) {
      leaveGroup(manager);
    }
    const { row } = base;
    const joins = await this.joins.changes(manager, base, result, context);
    const gone = await this.closedIncidents(manager, base, result, context);
    const closed = [...gone, ...joins.closed.filter(({ id }) => gone.every((other) => other.id !== id))];
    const closing = closingEvents(closed, result.instance.seq, context.retried);
    const raising = raisingEvents(joins.raised, result.instance.seq + closing.length);
    const events = [...result.events, ...closing, ...raising];
    await this.writeInstance(manager, base, result, {
      seq: result.instance.seq + closing.length + raising.length,
      openIncidents: row.openIncidents - closed.length + joins.raised.length,
      context,
    });
    await this.tokens.write(manager, row, tokenChanges(base, result), context.now);
    await this.events.insert(manager, row, events, { ...context.origin, at: context.now });
    await this.joins.write(manager, row, joins, context.now);
    await this.work.end(manager, base, result, context);
    return { hasWork: await this.work.add(manager, base, result, context), raised: joins.raised };
  }

  /** Whether a step locks its process family, which other transactions may hold: then it shares its transaction with no other. */
  isAlone({ row }: Pick<StepBase, 'row'>, result: StepResult): boolean {
    return this.work.isAlone(row, result);
  }

  private async writeInstance(
    manager: EntityManager,
    base: StepBase,
    { instance, events }: StepResult,
    { seq, openIncidents, context }: { seq: number; openIncidents: number; context: WriteContext },
  ): Promise<void> {
    const { row, isNew, definition } = base;
    const { now } = context;
    const ended = hasEnded(instance.state);
    const content: InstanceContent = {
      data: instance.data,
      joins: instance.joins,
      returnPoints: instance.returnPoints,
      executions: instance.executions,
      pending: instance.pending,
      continues: instance.continues,
      backCounter: instance.backCounter,
      parked: ended || isReleased(row, instance.state) ? [] : row.content.parked,
      ...withCorrections(row.content, events, context),
    };
    const next = {
      state: instance.state,
      seq,
      openIncidents,
      content,
      modifiedAt: now,
      endedAt: ended ? (row.endedAt ?? now) : null,
      expiresAt: expiryAfter(base, now),
    };
    await (isNew
      ? this.instances.insert(manager, { ...row, ...next })
      : this.instances.update(manager, row, next));
    const changes = definition.searchable.changes(isNew ? null : row.content.data, instance.data);
    await storeSearchValues(manager, row, changes);
  }

  /** An incident is over when its token has gone on to another visit or has ended; one of the whole instance with that. */
  private async closedIncidents(
    manager: EntityManager,
    { row, tokens }: StepBase,
    { instance }: StepResult,
    { now, retried }: WriteContext,
  ): Promise<IncidentHead[]> {
    if (row.openIncidents === 0) {
      return [];
    }
    const left = [...tokens.values()].map(({ state }) => state).filter((token) => hasLeft(token, instance));
    const closed = [
      ...(await this.incidents.openOfTokens(
        manager,
        row.id,
        left.map(({ id }) => id),
      )),
      ...(hasEnded(instance.state) ? await this.incidents.openAt(manager, row.id, null) : []).filter(
        ({ job }) => job === null || !outlives(job, instance.state),
      ),
    ];
    for (const state of ['RETRIED', 'RESOLVED'] as const) {
      const ids = closed.filter((one) => closedAs(one, retried) === state).map(({ id }) => id);
      await this.incidents.close(manager, row.id, ids, state, now);
    }
    return closed;
  }
}

/** What is shown of corrections: who reads data must see that a person wrote a part of them. */
function withCorrections(
  { corrections = [] }: InstanceContent,
  events: StepResult['events'],
  { origin, now }: WriteContext,
): Pick<InstanceContent, 'corrections'> {
  const made = events.flatMap(({ kind, data }) =>
    kind === 'DATA_CHANGED'
      ? [{ members: data?.['members'] as string[], by: origin.actor ?? '', at: now.toISOString() }]
      : [],
  );
  const all = [...corrections, ...made].slice(-CORRECTIONS_SHOWN);
  return all.length === 0 ? {} : { corrections: all };
}

function hasLeft({ id, visit }: TokenState, { tokens }: InstanceState): boolean {
  return tokens.get(id)?.visit !== visit;
}

function raisingEvents(incidents: readonly IncidentRow[], seq: number): NewEvent[] {
  return incidents.map(({ uuid, tokenId, node, source, type }, index) => ({
    seq: seq + index + 1,
    kind: 'INCIDENT_RAISED',
    tokenId,
    node,
    data: { incident: uuid, source, type },
  }));
}

function closingEvents(
  incidents: readonly IncidentHead[],
  seq: number,
  retried: RetriedIncident | undefined,
): NewEvent[] {
  return incidents.map((incident, index) => ({
    seq: seq + index + 1,
    kind: 'INCIDENT_CLOSED',
    tokenId: incident.tokenId,
    node: incident.node,
    data: { incident: incident.uuid, state: closedAs(incident, retried) },
  }));
}

/** A retry may close its own incident: its work has ended the instance at once, or moved the token on. */
function closedAs({ id }: IncidentHead, retried: RetriedIncident | undefined): 'RETRIED' | 'RESOLVED' {
  return id === retried?.id ? 'RETRIED' : 'RESOLVED';
}
