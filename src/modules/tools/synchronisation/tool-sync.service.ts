import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import { SERVICE_ITSELF, type Principal } from '../../../common/user/principal.js';
import { Clock } from '../../../common/clock.js';
import { Env } from '../../../config/env.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import type { SystemEntity, LockedSystem } from '../../systems/storage/system.entity.js';
import { SystemsService } from '../../systems/registration/systems.service.js';
import { syncDetails } from './sync-details.js';
import { ToolDecisionsService } from './tool-decisions.service.js';
import { definitionChanges } from '../model/tool-definition.js';
import { isEmpty, planSync, type Redefinition, type SyncPlan } from './tool-sync.js';
import type { ChangedTool, HashedDefinition, SyncReport, ToolDecision } from '../model/tool.types.js';
import { type StoredTool, ToolsRepository } from '../storage/tools.repository.js';
import { auditLimits } from '../../audit/audit.limits.js';

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
