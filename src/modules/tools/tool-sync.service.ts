import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { v7 as uuid } from 'uuid';
import type { Principal } from '../../common/auth/principal.js';
import { Clock } from '../../common/clock.js';
import { Env } from '../../config/env.js';
import { AuditService } from '../audit/audit.service.js';
import { AuditAction, AuditOutcome } from '../audit/audit.types.js';
import type { SystemEntity } from '../systems/entities/system.entity.js';
import { SystemsService } from '../systems/systems.service.js';
import { isEmpty, planSync } from './tool-sync.js';
import type { SyncReport, ToolDefinition } from './tool.types.js';
import { ToolsRepository } from './tools.repository.js';

/** What a server said that is to be stored. */
export interface ServerListing {
  tools: ToolDefinition[];
  /** What the server says of itself, for a system without a description. */
  description: string;
}

/** Brings the stored tools of a system in line with what its server lists. */
@Injectable()
export class ToolSyncService {
  constructor(
    private readonly tools: ToolsRepository,
    private readonly systems: SystemsService,
    private readonly audit: AuditService,
    private readonly clock: Clock,
    private readonly env: Env,
  ) {}

  /**
   * Writes all that changed inside the caller's transaction.
   * @param system locked for writing, so that one synchronisation at a time works on it
   */
  async apply(
    manager: EntityManager,
    principal: Principal,
    system: SystemEntity,
    listing: ServerListing,
  ): Promise<SyncReport> {
    const now = this.clock.now();
    const { rows, report } = planSync(await this.tools.ofSystem(manager, system.id), listing.tools, {
      systemId: system.id,
      isBaseline: system.toolsSynchronisedAt === null,
      policy: this.env.get('TOOL_CHANGE_POLICY'),
      now,
      newId: uuid,
    });
    await this.tools.store(manager, rows);
    const description = system.description === '' ? listing.description : system.description;
    const synchronised = { ...system, description, toolsSynchronisedAt: now };
    const fields = description === system.description ? [] : ['description'];
    if (isEmpty(report) && fields.length === 0) {
      await this.systems.saveUnchanged(manager, synchronised);
    } else {
      await this.systems.save(manager, principal, synchronised);
      await this.record(manager, principal, system, { ...report, fields });
    }
    return report;
  }

  private async record(
    manager: EntityManager,
    principal: Principal,
    { appId, appVersionId, resourceId }: SystemEntity,
    details: SyncReport & { fields: string[] },
  ): Promise<void> {
    await this.audit.record(manager, principal, {
      action: AuditAction.ToolsSync,
      outcome: AuditOutcome.Ok,
      appId,
      appVersionId,
      systemResourceId: resourceId,
      details: { ...details },
    });
  }
}
