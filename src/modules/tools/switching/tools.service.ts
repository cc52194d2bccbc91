import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import type { SystemEntity } from '../../systems/storage/system.entity.js';
import type { SystemKey } from '../../systems/model/system.types.js';
import { SystemNotFoundError } from '../../systems/model/systems.errors.js';
import { SystemsService } from '../../systems/registration/systems.service.js';
import { ToolDecisionsService } from '../synchronisation/tool-decisions.service.js';
import type { SwitchedTool } from '../model/tool.types.js';
import { ToolNotFoundError } from '../model/tools.errors.js';
import { ToolUsesService } from './tool-uses.service.js';
import { ToolsRepository } from '../storage/tools.repository.js';

/** Names a tool by its place in the interface: both ids of the system must be of the same system. */
export interface ToolKey extends SystemKey {
  systemId: string;
  toolId: string;
}

/** Single tools of MCP systems (docs/contract.md, section 2.5). */
@Injectable()
export class ToolsService {
  constructor(
    private readonly database: Database,
    private readonly systems: SystemsService,
    private readonly tools: ToolsRepository,
    private readonly decisions: ToolDecisionsService,
    private readonly uses: ToolUsesService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Enables or disables a tool, in a committed version too: the flag is looked at when a tool is called, and is no part of its
   * definition. Doing it twice changes nothing the second time. Versions that are still to come take over what was decided last
   * about the definition of the tool; in those that have it already it stays as it is.
   * @throws SystemNotFoundError, ToolNotFoundError
   */
  async switch(principal: Principal, key: ToolKey, enabled: boolean): Promise<SwitchedTool> {
    const { appId, appVersionId, resourceId } = key;
    const { resourceDefinitionId, ...switched } = await this.database.write(async (manager) => {
      const version = { appId, appVersionId, resourceId };
      const { system, writable } = await this.systems.lockForSwitching(manager, version);
      const tool =
        system.id === key.systemId ? await this.tools.findPresent(manager, system.id, key.toolId) : null;
      if (tool === null) {
        throw new ToolNotFoundError();
      }
      const change = { id: tool.id, name: tool.name, enabled, wasEnabled: tool.enabled };
      // A tool that no person has decided on yet is looked at now, also where its flag stays.
      if (enabled !== tool.enabled || tool.decidedBy === null) {
        await this.decisions.decide(manager, principal.user, { system, tool }, enabled);
      }
      if (enabled !== tool.enabled && writable) {
        await this.systems.save(manager, principal, system);
      }
      await this.record(manager, principal, system, change);
      return { ...change, resourceDefinitionId: system.resourceDefinitionId };
    });
    const affectedNodes = await this.uses.of({ appId, appVersionId, resourceDefinitionId });
    return { ...switched, affectedNodes };
  }

  /**
   * Makes sure that a path names a listed tool of an MCP system.
   * @throws SystemNotFoundError, ToolNotFoundError
   */
  async requirePath({ systemId, toolId, appId, appVersionId, resourceId }: ToolKey): Promise<void> {
    const id = await this.systems.idOf({ appId, appVersionId, resourceId });
    if (id === null) {
      throw new SystemNotFoundError();
    }
    if (
      id !== systemId ||
      !(await this.database.read((manager) => this.tools.existsPresent(manager, id, toolId)))
    ) {
      throw new ToolNotFoundError();
    }
  }

  private async record(
    manager: EntityManager,
    principal: Principal,
    { appId, appVersionId, resourceId }: SystemEntity,
    { id, name, enabled, wasEnabled }: Omit<SwitchedTool, 'affectedNodes'>,
  ): Promise<void> {
    await this.audit.record(manager, principal, {
      action: AuditAction.ToolSwitch,
      outcome: AuditOutcome.Ok,
      appId,
      appVersionId,
      systemResourceId: resourceId,
      toolId: id,
      details: { tool: name, enabled, wasEnabled },
    });
  }
}
