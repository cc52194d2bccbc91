import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../../../database/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import { IncidentsService } from '../steps/incidents.service.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { hasEnded } from '../steps/step-writer.js';
import type { InstanceHead, ParentLink } from '../storage/instance.row.js';
import { RuntimeRows } from '../storage/runtime-rows.js';
import type { TokenLink } from '../storage/tokens.repository.js';
import { JobSteps } from './job-steps.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { givenUp, ownerOf } from './token-job.handlers.js';

type Work = Extract<RuntimeJob, { kind: 'END_CHILDREN' }>;
type Call = Pick<ParentLink, 'tokenId' | 'visit' | 'seq' | 'waits'>;

/** Ends the processes that an instance, or some tokens of it, have called: with the instance, by going back, by a boundary event. */
@Injectable()
export class EndChildrenHandler implements JobHandler {
  readonly kind = 'END_CHILDREN';

  constructor(
    private readonly steps: JobSteps,
    private readonly instanceSteps: InstanceStepsService,
    private readonly database: Database,
    private readonly rows: RuntimeRows,
    private readonly queue: JobQueueService,
    private readonly incidents: IncidentsService,
  ) {}

  async run(job: Job): Promise<void> {
    const work = decodeJob<'END_CHILDREN'>(job.payload);
    const parentId = ownerOf(job);
    const isMeant = await this.meant(work, parentId);
    await this.database.write((manager) => this.withdrawCalls(manager, parentId, isMeant));
    for (const child of await this.children(parentId)) {
      if (!hasEnded(child.state) && child.parent !== null && isMeant(child.parent)) {
        await this.end(child.id, work.state);
      }
    }
    await this.steps.drop(job);
  }

  async giveUp(job: Job, error: unknown): Promise<void> {
    await this.steps.stop(job, ownerOf(job), { source: 'SUBPROCESS', message: givenUp(job, error) });
  }

  /**
   * First the calls that have not begun: one that is beginning holds its job, so that its child is there afterwards. One that
   * failed is with its incident.
   */
  private async withdrawCalls(
    manager: EntityManager,
    parentId: number,
    isMeant: (call: Call) => boolean,
  ): Promise<void> {
    const head = await this.rows.instances.lockHead(manager, { id: parentId });
    const calls = await this.queue.ofInstance(manager, parentId, 'CALL');
    const ids = calls.filter(({ payload }) => isMeant(decodeJob<'CALL'>(payload))).map(({ id }) => id);
    await this.queue.cancel(manager, ids);
    if (head !== null && head.openIncidents > 0) {
      const open = await this.rows.incidents.openAt(manager, parentId, null);
      const failed = open.filter(
        ({ job }) => job?.kind === 'CALL' && isMeant(decodeJob<'CALL'>(job.payload)),
      );
      await this.incidents.close(manager, parentId, failed, { state: 'RESOLVED', actor: null });
    }
  }

  private async end(id: number, state: Work['state']): Promise<void> {
    try {
      await this.instanceSteps.run<void>(
        { id },
        { actor: null, command: () => ({ kind: 'END', state }), after: () => undefined },
      );
    } catch (error) {
      // It has ended by itself meanwhile.
      if (!(error instanceof EngineRefusal)) {
        throw error;
      }
    }
  }

  private async children(parentId: number): Promise<InstanceHead[]> {
    return this.database.read(async (manager) =>
      this.rows.instances.heads(manager, await this.rows.instances.childrenOf(manager, parentId)),
    );
  }

  private async meant(
    { tokenId, visit, sinceSeq }: Work,
    parentId: number,
  ): Promise<(call: Call) => boolean> {
    if (tokenId === null) {
      return () => true;
    }
    if (visit !== null) {
      return (call) => call.tokenId === tokenId && call.visit === visit && call.waits;
    }
    const links = await this.database.read((manager) => this.rows.tokens.links(manager, parentId));
    const tree = treeBelow(tokenId, links);
    return (call) => tree.has(call.tokenId) && call.seq >= sinceSeq;
  }
}

/** A token and all that were made from it. */
function treeBelow(root: number, links: readonly TokenLink[]): ReadonlySet<number> {
  const children = new Map<number, number[]>();
  for (const { id, parentId } of links) {
    if (parentId !== null) {
      children.set(parentId, [...(children.get(parentId) ?? []), id]);
    }
  }
  const found = new Set<number>();
  for (const pending = [root]; pending.length > 0;) {
    const id = pending.pop() ?? root;
    if (!found.has(id)) {
      found.add(id);
      pending.push(...(children.get(id) ?? []));
    }
  }
  return found;
}
