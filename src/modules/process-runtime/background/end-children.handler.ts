import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import type { Job, JobHandler } from '../../jobs/model/job-queue.types.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { hasEnded } from '../steps/instance-status.js';
import { toParentLink, type InstanceHead } from '../storage/instance.row.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { TokensRepository, type TokenLink } from '../storage/tokens.repository.js';
import { JobSteps } from './job-steps.js';
import { PendingCalls, type Call } from './pending-calls.js';
import { decodeJob, type RuntimeJob } from '../steps/runtime-job.js';
import { givenUp, ownerOf } from './token-job.handlers.js';

type Work = Extract<RuntimeJob, { kind: 'END_CHILDREN' }>;

/** Ends the processes that an instance, or some tokens of it, have called: with the instance, by going back, by a boundary event. */
@Injectable()
export class EndChildrenHandler implements JobHandler {
  readonly kind = 'END_CHILDREN';

  constructor(
    private readonly steps: JobSteps,
    private readonly instanceSteps: InstanceStepsService,
    private readonly database: Database,
    private readonly calls: PendingCalls,
    private readonly instances: InstancesRepository,
    private readonly tokens: TokensRepository,
  ) {}

  async run(job: Job): Promise<void> {
    const work = decodeJob<'END_CHILDREN'>(job.payload);
    const parentId = ownerOf(job);
    const isMeant = await this.meant(work, parentId);
    // First the calls that have not begun: whatever has begun is a child after that.
    await this.database.write((manager) => this.calls.withdraw(manager, parentId, isMeant));
    for (const child of await this.children(parentId)) {
      const link = toParentLink(child);
      if (!hasEnded(child.state) && link !== null && isMeant(link)) {
        await this.end(child.id, work.state);
      }
    }
    await this.steps.drop(job);
  }

  async giveUp(job: Job, error: unknown): Promise<void> {
    await this.steps.stop(job, ownerOf(job), { source: 'SUBPROCESS', message: givenUp(job, error) });
  }

  private async end(id: number, state: Work['state']): Promise<void> {
    try {
      await this.instanceSteps.run<void>(
        { id },
        { actor: null, decide: () => ({ command: { kind: 'END', state }, after: () => undefined }) },
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
      this.instances.heads(manager, await this.instances.childrenOf(manager, parentId)),
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
    const links = await this.database.read((manager) => this.tokens.links(manager, parentId));
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
