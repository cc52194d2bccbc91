import { Injectable } from '@nestjs/common';
import { groupedBy } from '#engine/support';
import { Database } from '../../store/database.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { hasEnded } from '../steps/instance-status.js';
import { isCalled, type InstanceHead, type ParentLink } from '../storage/process-instance.entity.js';
import { Instances } from '../storage/instances.repository.js';
import { Tokens, type TokenLink } from '../storage/tokens.repository.js';
import { JobSteps, givenUpMessage, ownerOf } from './job-steps.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import type { EntityManager } from 'typeorm';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { closeIncidents } from '../steps/incident-records.js';
import { Incidents } from '../storage/incidents.repository.js';
import { StepResources } from '../steps/step-resources.js';

type Work = Extract<RuntimeJob, { kind: 'END_CHILDREN' }>;

type Call = Pick<Extract<RuntimeJob, { kind: 'CALL' }>, 'tokenId' | 'visit' | 'seq' | 'waits'>;

/** Ends processes that an instance or its tokens have called: when it ends, goes back, or at a boundary event. */
@Injectable()
export class EndChildrenHandler implements JobHandler {
  readonly kind = 'END_CHILDREN';

  constructor(
    private readonly steps: JobSteps,
    private readonly database: Database,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
  ) {}

  async run(job: Job): Promise<void> {
    const work = decodeJob<'END_CHILDREN'>(job.payload);
    const parentId = ownerOf(job);
    const isSelected = await this.selectorOf(work, parentId);
    // Withdraws pending calls first: every call that has begun is a child after that.
    await this.database.write((manager) => this.withdraw(manager, parentId, isSelected));
    for (const child of await this.children(parentId)) {
      if (!hasEnded(child.state) && isCalled(child) && isSelected(callOf(child))) {
        await this.steps.tryTo(child.id, { kind: 'END', state: work.state }, null);
      }
    }
    await this.steps.drop(job);
  }

  async giveUp(job: Job, error: unknown): Promise<void> {
    await this.steps.stop(job, ownerOf(job), { source: 'SUBPROCESS', message: givenUpMessage(job, error) });
  }

  /**
   * Withdraws calls of an instance: their jobs, and the incidents of failed ones. A call in progress holds its job, so that its child exists
   * afterwards.
   */
  private async withdraw(
    manager: EntityManager,
    parentId: number,
    isSelected: (call: Call) => boolean,
  ): Promise<void> {
    const head = await Instances.lockHead(manager, { id: parentId });
    const calls = await this.queue.ofInstance(manager, parentId, 'CALL');
    const ids = calls.filter(({ payload }) => isSelected(decodeJob<'CALL'>(payload))).map(({ id }) => id);
    await this.queue.cancel(manager, parentId, ids);
    if (head !== null && head.openIncidents > 0) {
      const open = await Incidents.openAt(manager, parentId, null);
      const failed = open.filter(
        ({ job }) => job?.kind === 'CALL' && isSelected(decodeJob<'CALL'>(job.payload)),
      );
      const closing = { state: 'RESOLVED', actor: null, at: this.resources.now() } as const;
      await closeIncidents(manager, parentId, failed, closing);
    }
  }

  private async children(parentId: number): Promise<InstanceHead[]> {
    return this.database.read(async (manager) =>
      Instances.heads(manager, await Instances.childrenOf(manager, parentId)),
    );
  }

  private async selectorOf(work: Work, parentId: number): Promise<(call: Call) => boolean> {
    const { tokenId, visit, sinceSeq } = work;
    if (tokenId === null) {
      return () => true;
    }
    if (visit !== null) {
      return (call) => call.tokenId === tokenId && call.visit === visit && call.waits;
    }
    const links = await this.database.read((manager) => Tokens.links(manager, parentId));
    const tree = treeBelow(tokenId, links);
    return (call) => tree.has(call.tokenId) && call.seq >= sinceSeq;
  }
}

function callOf({ parentTokenId, parentVisit, parentSeq, parentWaits }: ParentLink): Call {
  return { tokenId: parentTokenId, visit: parentVisit, seq: parentSeq, waits: parentWaits };
}

/** Returns a token and its descendants. */
function treeBelow(root: number, links: readonly TokenLink[]): ReadonlySet<number> {
  const children = groupedBy(links, ({ parentId }) => parentId);
  const found = new Set([root]);
  // The iteration includes ids that are added during it.
  for (const id of found) {
    children.get(id)?.forEach((child) => found.add(child.id));
  }
  return found;
}
