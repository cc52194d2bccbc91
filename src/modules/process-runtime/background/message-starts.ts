import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { BuildDefinitionsService } from '../../builds/contents/build-definitions.service.js';
import type { BuildDefinition } from '../../builds/model/builds.types.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import { shardOfHash } from '../../../database/shards.js';
import { Database } from '../../../database/database.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { ProcessStarter } from '../steps/process-starter.js';
import { laterIfRefused } from './scheduled-jobs.js';
import { Messages, type MessageRow } from '../storage/messages.repository.js';

class ReceivedError extends Error {
  override readonly name = 'ReceivedError';
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

  /** @returns whether the message has found its receiver */
  async start(message: MessageRow): Promise<boolean> {
    const found = await this.find(message);
    if (found === null) {
      return false;
    }
    const receive = async (manager: EntityManager): Promise<void> => {
      if (!(await Messages.removeMessage(manager, message))) {
        throw new ReceivedError();
      }
    };
    try {
      await this.starter.start(
        {
          definition: await this.definitions.of(found.definition),
          startNode: found.node,
          data: message.payload,
          platform: null,
          starter: null,
          startedBy: null,
          parent: null,
          shard: shardOfHash(message.waitKey),
          rootAppId: message.appId,
          depth: 0,
        },
        // A process that stops at once is kept with its incident, and the message has been received.
        { begin: receive, stopped: receive },
      );
    } catch (error) {
      await this.failed(error, message);
    }
    return true;
  }

  /** A message whose payload can be the data of no process is removed, or it would be in the way of those behind it. */
  private async failed(error: unknown, message: MessageRow): Promise<void> {
    if (error instanceof EngineRefusal) {
      await this.database.write((manager) => Messages.removeMessage(manager, message));
    } else if (!(error instanceof ReceivedError)) {
      throw laterIfRefused(error);
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
