import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { UserReference } from '../../common/user/user-reference.js';
import { Clock } from '../../common/clock.js';
import type { SystemEntity } from '../systems/entities/system.entity.js';
import { ResourceDefinitionsService } from '../systems/resource-definitions.service.js';
import type { ToolEntity } from './entities/tool.entity.js';
import { ToolDecisionsRepository } from './tool-decisions.repository.js';
import type { ToolDecision } from './tool.types.js';
import { ToolsRepository } from './tools.repository.js';

/** What is decided about tools in all versions of an application. Inside of a transaction that has locked the system. */
@Injectable()
export class ToolDecisionsService {
  constructor(
    private readonly definitions: ResourceDefinitionsService,
    private readonly decisions: ToolDecisionsRepository,
    private readonly tools: ToolsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Begins a synchronisation: nobody else decides on these tools until the transaction ends.
   * @returns what was decided so far, and whether no list was ever stored for a system of the resource definition
   */
  async open(
    manager: EntityManager,
    { resourceDefinitionId, toolsSynchronisedAt }: SystemEntity,
    now: Date,
  ): Promise<{ decisions: ToolDecision[]; isFirst: boolean }> {
    const { wasSynchronised } = await this.definitions.lock(manager, resourceDefinitionId);
    if (!wasSynchronised) {
      await this.definitions.markSynchronised(manager, resourceDefinitionId, now);
    }
    const decisions = await this.decisions.of(manager, resourceDefinitionId);
    return { decisions, isFirst: !wasSynchronised && toolsSynchronisedAt === null };
  }

  /** Stores what a synchronisation that was opened has decided. */
  async store(
    manager: EntityManager,
    { resourceDefinitionId }: SystemEntity,
    decisions: readonly ToolDecision[],
  ): Promise<void> {
    await this.decisions.store(manager, resourceDefinitionId, decisions);
  }

  /** Stores what a person decides now about a tool of a system, for it and for the versions that are still to come. */
  async decide(
    manager: EntityManager,
    user: UserReference,
    { system, tool }: { system: SystemEntity; tool: ToolEntity },
    enabled: boolean,
  ): Promise<void> {
    const now = this.clock.now();
    const { name, definitionHash } = tool;
    const decided = { enabled, decidedBy: user, decidedAt: now };
    await this.definitions.lock(manager, system.resourceDefinitionId);
    await this.tools.decide(manager, tool.id, decided, enabled === tool.enabled ? tool.modifiedAt : now);
    await this.store(manager, system, [{ name, definitionHash, ...decided }]);
  }
}
