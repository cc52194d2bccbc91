import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Log } from '../../../common/logging/log.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import {
  MessagesRepository,
  type MessageRow,
  type Waiting,
  type WaitRow,
} from '../storage/messages.repository.js';

/** Takes a message in the transaction that gives it to its receiver; false when somebody else has it. */
export type TakeMessage = (manager: EntityManager) => Promise<boolean>;

/** Somebody else took the message or used up the wait. */
export class MessageTakenError extends Error {
  override readonly name = 'MessageTakenError';
}

/** The step that a message leads to. */
@Injectable()
export class MessageDeliveries {
  constructor(
    private readonly messages: MessagesRepository,
    private readonly steps: InstanceStepsService,
    private readonly log: Log,
  ) {}

  /** Logs that several instances wait with one correlation, of which the first gets the message: at most one of them is meant. */
  warnOfSeveral({ several }: Waiting): void {
    if (several !== null) {
      const { instances, ...message } = several;
      const [first, second] = instances;
      this.log.warn('several instances wait for one message', { ...message, first, second });
    }
  }

  /**
   * Removes a wait and takes the message in the transaction of the step that they lead to.
   * @throws MessageTakenError, and what `InstanceStepsService.run` throws
   */
  async deliver({ payload }: MessageRow, wait: WaitRow, take: TakeMessage): Promise<void> {
    const { tokenId, visit, node } = wait;
    await this.steps.run<void>(
      { id: wait.instanceId },
      {
        actor: null,
        decide: async ({ row }, manager) => {
          const isOurs =
            row.state === 'STARTED' &&
            (await this.messages.removeWait(manager, wait)) &&
            (await take(manager));
          if (!isOurs) {
            throw new MessageTakenError();
          }
          return { command: { kind: 'MESSAGE', tokenId, visit, node, payload }, after: () => undefined };
        },
      },
    );
  }
}
