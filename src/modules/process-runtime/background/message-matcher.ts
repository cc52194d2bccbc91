import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { FailedStepError } from '../steps/failed-step.error.js';
import { StepResources } from '../steps/step-resources.js';
import { MessagesRepository, type MessageRow, type WaitRow } from '../storage/messages.repository.js';
import { MessageDeliveries, MessageTakenError } from './message-deliveries.js';
import { MessageHandOvers } from './message-hand-overs.js';
import { MessageStarts } from './message-starts.js';

/**
 * Gives messages to whoever waits for them: the oldest message to the token that has waited longest, else to a message start event
 * of the active build. Both who publishes and who begins to wait leave a job that comes here, so whichever comes second finds
 * the other. A message and a wait are removed in the transaction of the step that they lead to.
 */
@Injectable()
export class MessageMatcher {
  constructor(
    private readonly database: Database,
    private readonly messages: MessagesRepository,
    private readonly deliveries: MessageDeliveries,
    private readonly starts: MessageStarts,
    private readonly handOvers: MessageHandOvers,
    private readonly resources: StepResources,
  ) {}

  /** Goes on until there is no message or nobody to give it to, or until one is on its way to another shard: whoever gives it there goes on. */
  async match(key: string): Promise<void> {
    for (;;) {
      const now = this.resources.now();
      const { message, waiting } = await this.database.read(async (manager) => ({
        message: await this.messages.oldestMessage(manager, key, now),
        waiting: await this.messages.waiting(manager, key),
      }));
      this.deliveries.warnOfSeveral(waiting);
      const wait = waiting.first;
      if (message === null) {
        return;
      }
      const isGiven = wait === null ? await this.starts.start(message) : await this.giveOrSend(message, wait);
      if (!isGiven) {
        return;
      }
    }
  }

  private async giveOrSend(message: MessageRow, wait: WaitRow): Promise<boolean> {
    if (!this.handOvers.areSent) {
      return this.give(message, wait);
    }
    // The wait is there until it has arrived. Other messages would be sent to the same one.
    await this.handOvers.send(message, wait);
    return false;
  }

  /** @returns true: there may be more to do, whatever became of this */
  private async give(message: MessageRow, wait: WaitRow): Promise<true> {
    try {
      await this.deliveries.deliver(message, wait, (manager) =>
        this.messages.removeMessage(manager, message),
      );
    } catch (error) {
      if (error instanceof FailedStepError) {
        await this.handOvers.leaveToJob(message, wait, (manager) =>
          this.messages.removeMessage(manager, message),
        );
      } else if (error instanceof EngineRefusal || error instanceof ProcessInstanceNotFoundError) {
        await this.database.write((manager) => this.messages.removeWait(manager, wait));
      } else if (!(error instanceof MessageTakenError)) {
        throw error;
      }
    }
    return true;
  }
}
