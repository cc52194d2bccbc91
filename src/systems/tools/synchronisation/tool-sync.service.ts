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

/** Definitions read from the database in one statement. */
const DEFINITIONS_AT_ONCE = 8;

/** What a server said that is to be stored. */
export interface ServerListing {
  tools: HashedDefinition[];
  /** What the server says of itself, for a system without a description. */
  description: string;
}

/** Brings the stored tools of a system in line with what its server lists. */
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
   * Writes all that changed inside the caller's transaction. Tools are the offer of the server, so the tools of a committed
   * version are written too; of its systems nothing but the time.
   * @param locked locked, so that one synchronisation at a time works on it
   */
  async apply(
    manager: EntityManager,
    principal: Principal,
    { system, writable }: LockedSystem,
    listing: ServerListing,
  ): Promise<SyncReport> {
    const now = this.clock.now();
    const { plan, stored, earlier } = await this.plan(manager, system, listing, now);
    // What an admin has emptied later stays empty.
    const isFilled = writable && system.description === '' && system.toolsSynchronisedAt === null;
    const description = isFilled ? listing.description : system.description;
    const synchronised = { ...system, description, toolsSynchronisedAt: now };
    const fields = description === system.description ? [] : ['description'];
    const isUnchanged = isEmpty(plan.report) && fields.length === 0;
    // What is found without anybody asking changes no author.
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

  /** How many tools the systems list in all. */
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

  /** What changed about each tool. To be read before the new definitions are stored. */
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
