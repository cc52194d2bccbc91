import { Injectable } from '@nestjs/common';
import type { StepResult, TokenState, EngineJob } from '#engine/tokens';
import { outlives, VISIT_KINDS } from './runtime-job.js';
import { Events } from '../storage/events.repository.js';
import { Incidents, type IncidentHead, type IncidentRow } from '../storage/incidents.repository.js';
import type { InstanceContent, InstanceRow } from '../storage/process-instance.entity.js';
import { Instances } from '../storage/instances.repository.js';
import { storeSearchValues } from '../storage/search-values.js';
import { Tokens, type TokenChange } from '../storage/tokens.repository.js';
import { contentOf, expiryAfter, hasEnded, isReleased } from './instance-status.js';
import { joinChanges, writeJoins } from './join-incidents.js';
import { StepWork } from './step-work.js';
import type { RetriedIncident, StepWriting } from './step.types.js';
import { closedEvent, raisedEvent } from './incident-records.js';

/** Number of corrections that are shown with the data of an instance. */
const CORRECTIONS_SHOWN = 20;

/** Writes the changes of a step in the global lock order: instance, tokens, jobs, process family. */
@Injectable()
export class StepWriter {
  constructor(private readonly work: StepWork) {}

  /**
   * Writes a step. If `isAlone`, its transaction must not be shared.
   * @returns the incidents that were raised
   * @throws EngineIncident when the process family would exceed its limits
   */
  async write(step: StepWriting): Promise<readonly IncidentRow[]> {
    const { transaction, row, result, now, origin, retried } = step;
    const joins = await joinChanges(step);
    const gone = await this.closedIncidents(step);
    const over = [...gone, ...joins.closed.filter(({ id }) => gone.every((other) => other.id !== id))];
    const first = result.instance.seq + 1;
    const events = [
      ...result.events,
      ...over.map((one, index) => closedEvent(one, closedAs(one, retried), first + index)),
      ...joins.raised.map((one, index) => raisedEvent(one, first + over.length + index)),
    ];
    await this.writeInstance(step, {
      seq: result.instance.seq + over.length + joins.raised.length,
      openIncidents: row.openIncidents - over.length + joins.raised.length,
    });
    await Tokens.write(transaction, row, tokenChanges(step), now);
    await Events.insert(transaction, row, events, { ...origin, at: now });
    await writeJoins(step, joins);
    await this.work.end(step);
    await this.work.add(step);
    return joins.raised;
  }

  /** Whether a step needs a transaction of its own, because it locks rows that other transactions may hold. */
  isAlone(row: InstanceRow, result: StepResult): boolean {
    return this.work.isAlone(row, result);
  }

  private async writeInstance(
    step: StepWriting,
    counts: Pick<InstanceRow, 'seq' | 'openIncidents'>,
  ): Promise<void> {
    const { transaction, row, isNew, definition, now } = step;
    const { instance } = step.result;
    const ended = hasEnded(instance.state);
    const { state } = instance;
    const content: InstanceContent = {
      ...contentOf(instance),
      parked: ended || isReleased(row, instance.state) ? [] : row.content.parked,
      ...withCorrections(step),
    };
    const next = {
      ...counts,
      state,
      content,
      modifiedAt: now,
      endedAt: ended ? (row.endedAt ?? now) : null,
      expiresAt: expiryAfter(step, now),
    };
    await (isNew
      ? Instances.insert(transaction, { ...row, ...next })
      : Instances.update(transaction, row, next));
    const changes = definition.searchable.changes(isNew ? null : row.content.data, instance.data);
    await storeSearchValues(transaction, row, changes);
  }

  /** Closes incidents whose token has left its visit or ended, and those of the whole instance when that has ended. */
  private async closedIncidents(step: StepWriting): Promise<IncidentHead[]> {
    const { transaction, row, tokens, now, retried } = step;
    const { instance } = step.result;
    if (row.openIncidents === 0) {
      return [];
    }
    const left = [...tokens.values()].filter(
      ({ state }) => instance.tokens.get(state.id)?.visit !== state.visit,
    );
    const ids = left.map(({ state }) => state.id);
    const ofWhole = hasEnded(instance.state) ? await Incidents.openAt(transaction, row.id, null) : [];
    const over = [
      ...(await Incidents.openOfTokens(transaction, row.id, ids)),
      ...ofWhole.filter(({ job }) => job === null || !outlives(job, instance.state)),
    ];
    for (const state of ['RETRIED', 'RESOLVED'] as const) {
      const ids = over.filter((one) => closedAs(one, retried) === state).map(({ id }) => id);
      await Incidents.close(transaction, row.id, ids, state, now);
    }
    return over;
  }
}

/** Returns the corrections to show: readers must see which data a person wrote. */
function withCorrections({ row, result, origin, now }: StepWriting): Pick<InstanceContent, 'corrections'> {
  const { corrections = [] } = row.content;
  const made = result.events.flatMap(({ kind, data }) =>
    kind === 'DATA_CHANGED'
      ? [{ members: data?.['members'] as string[], by: origin.actor ?? '', at: now.toISOString() }]
      : [],
  );
  const all = [...corrections, ...made].slice(-CORRECTIONS_SHOWN);
  return all.length === 0 ? {} : { corrections: all };
}

/** A step that retries an incident may close that incident itself. */
function closedAs({ id }: IncidentHead, retried: RetriedIncident | undefined): 'RETRIED' | 'RESOLVED' {
  return id === retried?.id ? 'RETRIED' : 'RESOLVED';
}

/** Returns the tokens to write: those that the step changed or ended, and those that gained or lost background work. */
function tokenChanges({ tokens, result }: StepWriting): TokenChange[] {
  const cancelled = new Set(result.cancelledTokens);
  const withJobs = new Set(result.jobs.filter(endsWithVisit).map(({ tokenId }) => tokenId));
  const withWaits = new Set(result.waits.map(({ tokenId }) => tokenId));
  const changed = new Map(result.changedTokens.map((token) => [token.id, token]));
  for (const [id, { state, hasJobs, hasWaits }] of tokens) {
    const left = !result.instance.tokens.has(id);
    const gained = (withJobs.has(id) && !hasJobs) || (withWaits.has(id) && !hasWaits);
    if ((left || gained) && !changed.has(id)) {
      changed.set(id, result.instance.tokens.get(id) ?? state);
    }
  }
  const keeps = (id: number, had: boolean | undefined): boolean => had === true && !cancelled.has(id);
  return [...changed.values()].map((token: TokenState) => ({
    token,
    flags: {
      live: result.instance.tokens.has(token.id),
      hasJobs: withJobs.has(token.id) || keeps(token.id, tokens.get(token.id)?.hasJobs),
      hasWaits: withWaits.has(token.id) || keeps(token.id, tokens.get(token.id)?.hasWaits),
    },
  }));
}

function endsWithVisit(
  job: EngineJob,
): job is Extract<EngineJob, { kind: 'TIMER' | 'ACTION_DUE' | 'WORKFLOW' }> {
  return VISIT_KINDS.includes(job.kind);
}
