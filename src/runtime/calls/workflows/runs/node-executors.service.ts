import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  EXECUTED_NODE_TYPES,
  type ExecutedNodeType,
} from '../../../../delivery/packages/schema/node-types.types.js';
import { BUILT_IN_EXECUTORS } from '../executors/built-in.executors.js';
import type { NodeExecutor } from '../model/node-executor.js';

/** Registry of node executors: the built-in ones and those that other modules register at startup. */
@Injectable()
export class NodeExecutorsService implements OnApplicationBootstrap {
  private readonly registered: NodeExecutor[] = [...BUILT_IN_EXECUTORS];

  /** @throws Error when a type that package checks accept has no executor */
  onApplicationBootstrap(): void {
    const missing = EXECUTED_NODE_TYPES.filter((type) => !this.has(type));
    if (missing.length > 0) {
      throw new Error(`No module runs workflow nodes of type ${missing.join(', ')}.`);
    }
  }

  /** Returns the executors, one per type. */
  list(): readonly NodeExecutor[] {
    return this.registered;
  }

  /** Adds an executor. Call it in `onModuleInit`. @throws Error when the type already has one */
  register(executor: NodeExecutor): void {
    if (this.has(executor.type)) {
      throw new Error(`Nodes of type ${executor.type} already have an executor.`);
    }
    this.registered.push(executor);
  }

  private has(requested: ExecutedNodeType): boolean {
    return this.registered.some(({ type }) => type === requested);
  }
}
