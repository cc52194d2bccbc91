import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { UserReference } from '../../../platform/user/user-reference.js';
import { Clock } from '../../../platform/clock.js';
import type { SystemEntity, LockedSystem } from '../../storage/system.entity.js';
import { ToolReadingsService } from '../../lookups/tool-readings.service.js';
import { decidedBefore, type Redefinition, isEmpty, planSync, type SyncPlan } from './tool-sync.js';
import type { ToolEntity } from '../storage/tool.entity.js';
import { type StoredTool, ToolsRepository } from '../storage/tools.repository.js';
import { outlived, ToolDecisions } from '../model/tool-decisions.js';
import { ToolDecisionsRepository } from '../storage/tool-decisions.repository.js';
import type { ToolDecision, ChangedTool, HashedDefinition, SyncReport } from '../model/tool.types.js';
import { mcpLimits } from '../../mcp-connection/mcp.limits.js';
import { v7 as uuid } from 'uuid';
import { SERVICE_ITSELF, type Principal } from '../../../platform/user/principal.js';
import { Env } from '../../../platform/config/env.js';
import { AuditService } from '../../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../../audit/model/audit.types.js';
import { SystemsService } from '../../registration/systems.service.js';
import { syncDetails } from './sync-details.js';
import { definitionChanges } from '../model/tool-definition.js';
import { auditLimits } from '../../../audit/audit.limits.js';

/** Manages decisions about tools across all versions of an application. Call it in a transaction that has locked the system. */
@Injectable()
export class ToolDecisionsService {
  constructor(
    private readonly readings: ToolReadingsService,
    private readonly decisions: ToolDecisionsRepository,
    private readonly tools: ToolsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Locks the decisions of a resource definition until the transaction ends.
   * @returns earlier decisions about tools of these names, and whether this is the first list of the resource definition
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

  /** Stores snapshots of decided tools whose definition changes. Call it before storing the new definitions. */
  async keep(
    manager: EntityManager,
    stored: readonly StoredTool[],
    redefinitions: readonly Redefinition[],
  ): Promise<void> {
    const { byPerson, byRules } = decidedBefore(stored, redefinitions);
    await this.decisions.forget(manager, byPerson);
    await this.decisions.keep(manager, [...byPerson, ...byRules]);
  }

  /** Stores new decisions and removes needless ones. Call it after storing the tools. @param earlier decisions returned by `open` */
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

  /** Stores the decision of a person about a tool, for this version and later ones. */
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

/** Number of definitions read per statement. */
const DEFINITIONS_AT_ONCE = 8;

/** Tools and self-description of a server, to be stored. */
export interface ServerListing {
  tools: HashedDefinition[];
  /** Self-description of the server, used for a system without a description. */
  description: string;
}

/** Synchronises the stored tools of a system with the list of its server. */
@Injectable()
export class ToolSyncService {
  constructor(
    private readonly tools: ToolsRepository,
    private readonly decisions: ToolDecisionsService,
    private readonly systems: SystemsService,
    private readonly audit: AuditService,
    private readonly clock: Clock,
    private readonly env: Env,
  ) {}

  /**
   * Writes all changes in the caller's transaction. In a committed version, tools are updated too because they belong to the server; of
   * its systems only the time changes.
   * @param locked the locked system, so that synchronisations do not overlap
   */
  async apply(
    manager: EntityManager,
    principal: Principal,
    { system, writable }: LockedSystem,
    listing: ServerListing,
  ): Promise<SyncReport> {
    const now = this.clock.now();
    const { plan, stored, earlier } = await this.plan(manager, system, listing, now);
    // Only at the first synchronisation, so that a description that an admin cleared stays empty.
    const isFilled = writable && system.description === '' && system.toolsSynchronisedAt === null;
    const description = isFilled ? listing.description : system.description;
    const synchronised = { ...system, description, toolsSynchronisedAt: now };
    const fields = description === system.description ? [] : ['description'];
    const isUnchanged = isEmpty(plan.report) && fields.length === 0;
    // Background refreshes do not change the author.
    if (isUnchanged || !writable || principal === SERVICE_ITSELF) {
      await this.systems.saveUnchanged(manager, synchronised);
    } else {
      await this.systems.save(manager, principal, synchronised);
    }
    if (!isUnchanged) {
      await this.record(manager, principal, system, { plan, fields });
    }
    await this.decisions.keep(manager, stored, plan.redefinitions);
    await this.tools.markGone(manager, plan.goneIds, now);
    await this.tools.store(manager, plan.rows);
    await this.decisions.close(manager, system, plan.decisions, earlier);
    return plan.report;
  }

  /** Counts the present tools of systems. */
  async countTools(manager: EntityManager, systems: readonly SystemEntity[]): Promise<number> {
    const ids = systems.map(({ id }) => id);
    return ids.length === 0 ? 0 : this.tools.countPresent(manager, ids);
  }

  private async plan(
    manager: EntityManager,
    system: SystemEntity,
    { tools }: ServerListing,
    now: Date,
  ): Promise<{ plan: SyncPlan; stored: StoredTool[]; earlier: ToolDecision[] }> {
    const stored = await this.tools.ofSystem(manager, system.id);
    const names = tools.map(({ name }) => name);
    const opened = await this.decisions.open(manager, system, names, now);
    const plan = planSync(stored, tools, {
      ...opened,
      systemId: system.id,
      policy: this.env.get('TOOL_CHANGE_POLICY'),
      now,
      newId: uuid,
    });
    return { plan, stored, earlier: opened.decisions };
  }

  private async record(
    manager: EntityManager,
    principal: Principal,
    { appId, appVersionId, resourceId }: SystemEntity,
    { plan, fields }: { plan: SyncPlan; fields: string[] },
  ): Promise<void> {
    const differences = this.differences(manager, plan.redefinitions);
    const maxBytes = auditLimits.detailsBytes;
    await this.audit.record(manager, principal, {
      action: AuditAction.ToolsSync,
      outcome: AuditOutcome.Ok,
      appId,
      appVersionId,
      systemResourceId: resourceId,
      details: { ...(await syncDetails(plan.report, fields, differences, maxBytes)) },
    });
  }

  /** Yields the differences of each changed tool. Read them before storing the new definitions. */
  private async *differences(
    manager: EntityManager,
    redefinitions: Redefinition[],
  ): AsyncGenerator<ChangedTool> {
    for (let start = 0; start < redefinitions.length; start += DEFINITIONS_AT_ONCE) {
      const batch = redefinitions.slice(start, start + DEFINITIONS_AT_ONCE);
      const before = await this.tools.definitions(
        manager,
        batch.map(({ id }) => id),
      );
      for (const { id, definition } of batch) {
        const stored = before.get(id);
        if (stored !== undefined) {
          yield { name: definition.name, changes: definitionChanges(stored, definition) };
        }
      }
    }
  }
}
