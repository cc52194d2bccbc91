import { Injectable } from '@nestjs/common';
import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { Database } from '../../store/database.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { EngineRefusal } from '#engine/tokens';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { toNewJob } from '../steps/step-work.js';
import { FailedStepError } from '../steps/step-failures.js';
import { StepResources } from '../steps/step-resources.js';
import { Instances } from '../storage/instances.repository.js';
import { Messages, type MessageRow, type WaitRow, type Waiting } from '../storage/messages.repository.js';
import { Log } from '../../platform/observability/logging/log.js';
import { BuildDefinitionsService } from '../../delivery/builds/contents/build-definitions.service.js';
import type { BuildDefinition } from '../../delivery/builds/model/builds.types.js';
import { shardOfHash } from '../../store/shards.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { NO_CALLER, ProcessStarter, type StartRequest } from '../steps/process-starter.js';
import { postponedIfQuotaExceeded } from './scheduled-jobs.js';

/** Takes a message in the transaction that delivers it; false when another receiver has it. */
type TakeMessage = (executor: SqlExecutor) => Promise<boolean>;

/** The message was taken or the wait was used by another transaction. */
class MessageTakenError extends Error {
  override readonly name = 'MessageTakenError';
}

/** Delivers messages to tokens that wait for them. */
@Injectable()
export class MessageDeliveries {
  constructor(
    private readonly database: Database,
    private readonly steps: InstanceStepsService,
    private readonly queue: JobQueueService,
    private readonly resources: StepResources,
    private readonly log: Log,
  ) {}

  /** Logs when several instances wait with one correlation: the first gets the message, perhaps not the intended one. */
  warnIfAmbiguous({ several }: Waiting): void {
    if (several !== null) {
      const { instances, ...message } = several;
      const [first, second] = instances;
      this.log.warn('several instances wait for one message', { ...message, first, second });
    }
  }

  /**
   * Delivers a message: removes the wait and takes the message in the transaction of the step. For a token that has moved on only the wait
   * is removed. A message whose receiver stops becomes a job of the token, which ends in an incident that can be retried.
   */
  async deliver(message: MessageRow, wait: WaitRow, take: TakeMessage): Promise<void> {
    try {
      await this.deliverInStep(message, wait, take).catch((error: unknown) => {
        if (error instanceof FailedStepError) {
          return this.deliverByJob(message, wait, take);
        }
        throw error;
      });
    } catch (error) {
      if (error instanceof EngineRefusal || error instanceof ProcessInstanceNotFoundError) {
        await this.database.write((manager) => Messages.removeWait(manager, wait));
      } else if (!(error instanceof MessageTakenError)) {
        throw error;
      }
    }
  }

  private async deliverInStep({ payload }: MessageRow, wait: WaitRow, take: TakeMessage): Promise<void> {
    const { tokenId, visit, node } = wait;
    await this.steps.transact({ id: wait.instanceId }, async (held) => {
      if (held.row.state !== 'STARTED') {
        throw new MessageTakenError();
      }
      await this.takeMessageAndWait(held.transaction, wait, take);
      await this.steps.make(held, { kind: 'MESSAGE', tokenId, visit, node, payload }, { actor: null });
    });
  }

  private async deliverByJob({ payload }: MessageRow, wait: WaitRow, take: TakeMessage): Promise<void> {
    const { tokenId, visit, node, instanceId } = wait;
    const job = { kind: 'DELIVERY', tokenId, visit, node, payload } as const;
    const id = await this.resources.nextId('job');
    await this.database.write(async (manager) => {
      await this.takeMessageAndWait(manager, wait, take);
      const head = await Instances.findHead(manager, { id: instanceId });
      if (head === null) {
        throw new MessageTakenError();
      }
      await this.queue.add(manager, [{ id, ...toNewJob(head, job, this.resources.now()) }]);
    });
  }

  /** @throws MessageTakenError */
  private async takeMessageAndWait(executor: SqlExecutor, wait: WaitRow, take: TakeMessage): Promise<void> {
    if (!(await Messages.removeWait(executor, wait)) || !(await take(executor))) {
      throw new MessageTakenError();
    }
  }
}

/** Message start events of active builds (BPMN 2.0.2, 10.5.2). */
@Injectable()
export class MessageStarts {
  constructor(
    private readonly builds: BuildDefinitionsService,
    private readonly definitions: RunnableDefinitionsService,
    private readonly starter: ProcessStarter,
    private readonly database: Database,
  ) {}

  /** Starts a process by a message. @returns whether a start event receives it */
  async start(message: MessageRow): Promise<boolean> {
    const found = await this.find(message);
    if (found === null) {
      return false;
    }
    const request: StartRequest = {
      definition: await this.definitions.of(found.definition),
      startNode: found.node,
      data: message.payload,
      shard: shardOfHash(message.waitKey),
      rootAppId: message.appId,
      ...NO_CALLER,
    };
    try {
      await this.starter.start(request, async (transaction) => {
        if (!(await Messages.removeMessage(transaction, message))) {
          throw new MessageTakenError();
        }
      });
    } catch (error) {
      await this.handleFailure(error, message);
    }
    return true;
  }

  /** Removes a message that can start no process, because it would block later ones. */
  private async handleFailure(error: unknown, message: MessageRow): Promise<void> {
    if (error instanceof EngineRefusal) {
      await this.database.write((manager) => Messages.removeMessage(manager, message));
    } else if (!(error instanceof MessageTakenError)) {
      throw postponedIfQuotaExceeded(error);
    }
  }

  private async find({
    appId,
    message,
  }: MessageRow): Promise<{ definition: BuildDefinition; node: number } | null> {
    const active = await this.builds.activeBuild(appId);
    const definitions = active === null ? [] : await this.builds.ofBuild(active.buildId);
    for (const definition of definitions) {
      const { nodes, starts } = definition.graph;
      const node = starts.find((index) => {
        const event = nodes[index]?.event;
        return event?.type === 'MESSAGE' && event.message === message;
      });
      if (node !== undefined) {
        return { definition, node };
      }
    }
    return null;
  }
}
