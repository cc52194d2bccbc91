import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../common/auth/principal.js';
import { requestContext } from '../../common/http/request-context.js';
import { Database } from '../../database/database.js';
import { JobQueueService } from '../jobs/job-queue.service.js';
import { EngineRefusal } from './engine/engine.errors.js';
import type { EngineCommand } from './engine/engine.types.js';
import { faultOf, IncidentsService } from './incidents.service.js';
import type { RetryView } from './instance-operations.types.js';
import { InstanceStepsService } from './instance-steps.service.js';
import { decodeJob } from './jobs/runtime-job.js';
import {
  ProcessIncidentError,
  ProcessInstanceNotFoundError,
  ProcessStateError,
  ProcessTokenNotFoundError,
} from './process-runtime.errors.js';
import { FailedStepError } from './step/failed-step.error.js';
import { toDomainError } from './step/refusals.js';
import { StepResources } from './step/step-resources.js';
import { unparked } from './step/step-writer.js';
import type { NewEvent } from './storage/events.repository.js';
import type { IncidentRow } from './storage/incidents.repository.js';
import type { InstanceHead, ParkedJob } from './storage/instance.row.js';
import { RuntimeRows } from './storage/runtime-rows.js';

/** An incident of the visit that a token is on. */
interface Stop {
  incident: IncidentRow;
  tokenId: number;
  visit: number;
}

/** Work that the engine asks for anew, with the data of now; any other runs again as it was asked for. */
const ASKED_ANEW: readonly string[] = ['WORKFLOW', 'CALL', 'CONTINUE'];

/** Runs again what incidents stopped (process semantics, section 4: "an administrator may retry the token"). */
@Injectable()
export class InstanceRetriesService {
  constructor(
    private readonly database: Database,
    private readonly steps: InstanceStepsService,
    private readonly incidents: IncidentsService,
    private readonly rows: RuntimeRows,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
  ) {}

  /**
   * Runs again what stopped a token on its present visit, and closes the incidents.
   * @throws ProcessInstanceNotFoundError, ProcessTokenNotFoundError
   * @throws ProcessStateError when nothing did, when only a caller can do it again, or the instance is not running
   * @throws ProcessIncidentError when it stops again at once
   */
  async retry(principal: Principal, uuid: string, tokenUuid: string): Promise<RetryView> {
    const stops = await this.database.read((manager) => this.stopsOf(manager, uuid, tokenUuid));
    if (stops.length === 0) {
      throw new ProcessStateError('NOTHING_TO_RETRY', 'Nothing of this token has stopped.');
    }
    const background = stops.filter(({ incident }) => incident.job !== null);
    if (background.length === 0) {
      throw new ProcessStateError(
        'NOTHING_TO_RETRY',
        'There is nothing to retry: execute the UI action again.',
      );
    }
    const retried: RetryView[] = [];
    for (const stop of background) {
      retried.push(await this.retryOne(principal, uuid, stop));
    }
    const retriedIncidents = retried.flatMap((view) => view.retriedIncidents);
    if (retriedIncidents.length === 0) {
      // Another operator was first.
      throw new ProcessStateError('NOTHING_TO_RETRY', 'Nothing of this token has stopped.');
    }
    this.queue.wake();
    return { uuid, state: retried.at(-1)?.state ?? 'STARTED', retriedIncidents };
  }

  private async stopsOf(manager: EntityManager, uuid: string, tokenUuid: string): Promise<Stop[]> {
    const head = await this.rows.instances.findHead(manager, { uuid });
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
    const token = await this.rows.tokens.find(manager, head.id, tokenUuid);
    if (token === null) {
      throw new ProcessTokenNotFoundError();
    }
    const { id: tokenId, visit } = token;
    const open = await this.rows.incidents.open(manager, head.id);
    return open
      .filter((incident) => incident.tokenId === tokenId && incident.visit === visit)
      .map((incident) => ({ incident, tokenId, visit }));
  }

  private async retryOne(principal: Principal, uuid: string, stop: Stop): Promise<RetryView> {
    const actor = principal.user.userName;
    const jobId = await this.resources.nextId('job');
    try {
      return await this.steps.run<RetryView>(
        { uuid },
        {
          actor,
          before: (manager, row) => this.again(manager, row, stop, { actor, jobId }),
          command: (_loaded, manager) => this.toCommand(manager, stop),
          after: async ({ before, result }, manager) => {
            await this.close(manager, before.row.id, stop, actor, []);
            return { uuid, state: result.instance.state, retriedIncidents: [stop.incident.uuid] };
          },
        },
      );
    } catch (error) {
      throw await this.failed(error, actor);
    }
  }

  /** What needs no step: the background work itself is there again. */
  private async again(
    manager: EntityManager,
    row: InstanceHead,
    { incident, tokenId, visit }: Stop,
    { actor, jobId }: { actor: string; jobId: number },
  ): Promise<{ answer: RetryView } | undefined> {
    const answer = { uuid: row.uuid, state: row.state, retriedIncidents: [] as string[] };
    if (!(await this.isOpen(manager, row.id, incident))) {
      return { answer };
    }
    const { job } = incident;
    if (job === null || isAskedAnew(job)) {
      return undefined;
    }
    if (row.state !== 'STARTED') {
      throw new EngineRefusal('INSTANCE_NOT_STARTED', `The process instance is ${row.state}.`);
    }
    await this.queue.add(manager, [
      { ...unparked(row, job, this.resources.now()), id: jobId, shard: row.shard },
    ]);
    const event = { kind: 'RETRY', tokenId, node: incident.node, data: { job: job.kind } } as const;
    await this.close(manager, row.id, { incident, tokenId, visit }, actor, [event]);
    return { answer: { ...answer, retriedIncidents: [incident.uuid] } };
  }

  /** Closes the incident, unless the step has done so by moving its token on. */
  private async close(
    manager: EntityManager,
    instanceId: number,
    { incident }: Stop,
    actor: string,
    before: Omit<NewEvent, 'seq'>[],
  ): Promise<void> {
    const head = await this.rows.instances.findHead(manager, { id: instanceId });
    if (head === null || !(await this.isOpen(manager, instanceId, incident))) {
      return;
    }
    const at = this.resources.now();
    const { uuid, tokenId, node } = incident;
    const closing = {
      kind: 'INCIDENT_CLOSED',
      tokenId,
      node,
      data: { incident: uuid, state: 'RETRIED' },
    } as const;
    const events = [...before, closing].map((event, index) => ({ ...event, seq: head.seq + index + 1 }));
    await this.rows.instances.updateTrail(manager, head, {
      seq: head.seq + events.length,
      openIncidents: head.openIncidents - 1,
      modifiedAt: at,
    });
    await this.rows.incidents.close(manager, [incident.id], 'RETRIED', at);
    const requestId = requestContext()?.requestId ?? null;
    await this.rows.events.insert(manager, head, events, { actor, requestId, at });
  }

  private async toCommand(
    manager: EntityManager,
    { incident: { job, actionSvcUuid }, tokenId, visit }: Stop,
  ): Promise<EngineCommand> {
    const call = job === null ? null : await this.callOf(manager, job);
    return { kind: 'RETRY', tokenId, visit, actionSvcUuid, ...(call === null ? {} : { call }) };
  }

  /** Which of the calls of an activity it is about. */
  private async callOf(
    manager: EntityManager,
    { kind, instanceId, payload }: ParkedJob,
  ): Promise<{ node: number; index: number } | null> {
    if (kind === 'CALL') {
      const { node, index } = decodeJob<'CALL'>(payload);
      return { node, index };
    }
    const child =
      kind === 'NOTIFY_PARENT' && instanceId !== null
        ? await this.rows.instances.findHead(manager, { id: instanceId })
        : null;
    // The token still waits where it called, so that only the index counts.
    return child === null || child.parent === null ? null : { node: 0, index: child.parent.index };
  }

  private async isOpen(manager: EntityManager, instanceId: number, { id }: IncidentRow): Promise<boolean> {
    return (await this.rows.incidents.open(manager, instanceId)).some((incident) => incident.id === id);
  }

  private async failed(error: unknown, actor: string): Promise<unknown> {
    if (error instanceof EngineRefusal) {
      return toDomainError(error, this.resources.limits.dataBytes);
    }
    if (error instanceof FailedStepError) {
      await this.incidents.record(error.instanceId, faultOf(error), { actor });
      return new ProcessIncidentError({ cause: error });
    }
    return error;
  }
}

/** A called process that ended badly is called again; one that ended well has only to be told of again. */
function isAskedAnew({ kind, payload }: ParkedJob): boolean {
  return kind === 'NOTIFY_PARENT'
    ? decodeJob<'NOTIFY_PARENT'>(payload).outcome.state !== 'FINISHED'
    : ASKED_ANEW.includes(kind);
}
