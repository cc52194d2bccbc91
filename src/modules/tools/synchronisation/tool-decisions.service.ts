import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { UserReference } from '../../../common/user/user-reference.js';
import { Clock } from '../../../common/clock.js';
import type { SystemEntity } from '../../systems/storage/system.entity.js';
import { ToolReadingsService } from '../../systems/lookups/tool-readings.service.js';
import { decidedBefore, type Redefinition } from './tool-sync.js';
import type { ToolEntity } from '../storage/tool.entity.js';
import { type StoredTool, ToolsRepository } from '../storage/tools.repository.js';
import { outlived, ToolDecisions } from '../model/tool-decisions.js';
import { ToolDecisionsRepository } from '../storage/tool-decisions.repository.js';
import type { ToolDecision } from '../model/tool.types.js';
import { mcpLimits } from '../../mcp-connection/mcp.limits.js';

/** What is decided about tools in all versions of an application. Inside of a transaction that has locked the system. */
@Injectable()
export class ToolDecisionsService {
  constructor(
    private readonly readings: ToolReadingsService,
    private readonly decisions: ToolDecisionsRepository,
    private readonly tools: ToolsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Nobody else decides on tools of these names until the transaction ends.
   * @returns the decisions so far, and whether no list was ever stored for a system of the resource definition
   */
  async open(
    manager: EntityManager,
    system: SystemEntity,
    names: readonly string[],
    now: Date,
  ): Promise<{ decisions: ToolDecision[]; isFirst: boolean }> {
    const { resourceDefinitionId } = system;
    const { wasSynchronised } = await this.readings.lockDefinition(manager, system.resourceDefinitionId);
    if (!wasSynchronised) {
      await this.readings.markSynchronised(manager, resourceDefinitionId, now);
    }
    const decisions = await this.decisions.of(manager, resourceDefinitionId, names);
    return { decisions, isFirst: !wasSynchronised };
  }

  /** Keeps what was decided on of tools that are defined otherwise now. To be done before the new definitions are stored. */
  async keep(
    manager: EntityManager,
    stored: readonly StoredTool[],
    redefinitions: readonly Redefinition[],
  ): Promise<void> {
    const { byPerson, byRules } = decidedBefore(stored, redefinitions);
    await this.decisions.forget(manager, byPerson);
    await this.decisions.keep(manager, [...byPerson, ...byRules]);
  }

  /** Once tools are stored: keeps decisions, and forgets needless ones. @param earlier of `open` */
  async close(
    manager: EntityManager,
    system: SystemEntity,
    decided: readonly ToolDecision[],
    earlier: readonly ToolDecision[],
  ): Promise<void> {
    await this.decisions.store(manager, system.resourceDefinitionId, decided);
    const names = new Set(decided.map(({ name }) => name));
    const others = new ToolDecisions(decided);
    const known = earlier.filter((one) => names.has(one.name) && others.of(one) === undefined);
    const old = outlived([...known, ...decided], mcpLimits.toolDecisionsKept);
    if (old.length > 0) {
      await this.decisions.removeUnused(manager, system, old);
    }
  }

  /** Stores a decision of a person about a tool of a system, for this version and for later ones. */
  async decide(
    manager: EntityManager,
    user: UserReference,
    { system, tool }: { system: SystemEntity; tool: ToolEntity },
    enabled: boolean,
  ): Promise<void> {
    const now = this.clock.now();
    const { name, definitionHash } = tool;
    const decided = { enabled, decidedBy: user, decidedAt: now };
    await this.readings.lockDefinition(manager, system.resourceDefinitionId);
    await this.tools.decide(manager, tool.id, decided, enabled === tool.enabled ? tool.modifiedAt : now);
    await this.decisions.forget(manager, [tool.id]);
    await this.decisions.store(manager, system.resourceDefinitionId, [{ name, definitionHash, ...decided }]);
  }
}
