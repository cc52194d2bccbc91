import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { UserReference } from '../../../common/user/user-reference.js';
import { Clock } from '../../../common/clock.js';
import type { SystemEntity } from '../../systems/storage/system.entity.js';
import { ResourceDefinitionsService } from '../../systems/lookups/resource-definitions.service.js';
import { decidedBefore, type Redefinition } from './tool-sync.js';
import type { StoredTool } from '../storage/tool-rows.types.js';
import type { ToolEntity } from '../storage/tool.entity.js';
import { outlived, ToolDecisions } from '../model/tool-decisions.js';
import { ReviewedToolsRepository } from '../storage/reviewed-tools.repository.js';
import { ToolDecisionsRepository } from '../storage/tool-decisions.repository.js';
import type { ToolDecision } from '../model/tool.types.js';
import { ToolsRepository } from '../storage/tools.repository.js';
import { mcpLimits } from '../../mcp-connection/mcp.limits.js';

/** What is decided about tools in all versions of an application. Inside of a transaction that has locked the system. */
@Injectable()
export class ToolDecisionsService {
  constructor(
    private readonly definitions: ResourceDefinitionsService,
    private readonly decisions: ToolDecisionsRepository,
    private readonly tools: ToolsRepository,
    private readonly reviewed: ReviewedToolsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Begins a synchronisation: nobody else decides on these tools until the transaction ends.
   * @param names of the tools that are listed now
   * @returns the decisions so far about tools of these names, and whether no list was ever stored for a system of the resource
   * definition
   */
  async open(
    manager: EntityManager,
    system: SystemEntity,
    names: readonly string[],
    now: Date,
  ): Promise<{ decisions: ToolDecision[]; isFirst: boolean }> {
    const { resourceDefinitionId } = system;
    const { wasSynchronised } = await this.definitions.lock(manager, system);
    if (!wasSynchronised) {
      await this.definitions.markSynchronised(manager, resourceDefinitionId, now);
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
    await this.reviewed.forget(manager, byPerson);
    await this.reviewed.keep(manager, [...byPerson, ...byRules]);
  }

  /**
   * Ends a synchronisation, after its tools are stored. It keeps the decisions of the synchronisation, and forgets decisions
   * that need not be kept any more.
   * @param earlier what `open` returned
   */
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
    await this.definitions.lock(manager, system);
    await this.tools.decide(manager, tool.id, decided, enabled === tool.enabled ? tool.modifiedAt : now);
    await this.reviewed.forget(manager, [tool.id]);
    await this.decisions.store(manager, system.resourceDefinitionId, [{ name, definitionHash, ...decided }]);
  }
}
