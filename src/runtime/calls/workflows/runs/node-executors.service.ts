import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  EXECUTED_NODE_TYPES,
  type ExecutedNodeType,
} from '../../../../delivery/packages/schema/node-types.types.js';
import { BUILT_IN_EXECUTORS } from '../executors/built-in.executors.js';
import type { NodeExecutor } from '../model/node-executor.js';

/** The types of nodes that this release runs: its own, and those that other modules register while they start. */
@Injectable()
export class NodeExecutorsService implements OnApplicationBootstrap {
  private readonly registered: NodeExecutor[] = [...BUILT_IN_EXECUTORS];

  /** @throws Error when a type that packages are told of has no executor: a run would fail where a check promised more */
  onApplicationBootstrap(): void {
    const missing = EXECUTED_NODE_TYPES.filter((type) => !this.has(type));
    if (missing.length > 0) {
      throw new Error(`No module runs workflow nodes of type ${missing.join(', ')}.`);
    }
  }

  /** One for each type. */
  list(): readonly NodeExecutor[] {
    return this.registered;
  }

  /** Adds a type. Call it in `onModuleInit`. @throws Error when the type is there already */
  register(executor: NodeExecutor): void {
    if (this.has(executor.type)) {
      throw new Error(`Nodes of type ${executor.type} have an executor already.`);
    }
    this.registered.push(executor);
  }

  private has(wanted: ExecutedNodeType): boolean {
    return this.registered.some(({ type }) => type === wanted);
  }
}
