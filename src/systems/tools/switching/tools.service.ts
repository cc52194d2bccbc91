import { Injectable } from '@nestjs/common';
import { Permission } from '../../../platform/auth/permission.js';
import type { IfMatch } from '../../../platform/http/conditional-requests.js';
import { mayFor } from '../../../platform/user/grant.js';
import type { Principal } from '../../../platform/user/principal.js';
import { Database } from '../../../store/database.js';
import { AuditService } from '../../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../../audit/model/audit.types.js';
import { SystemsService } from '../../registration/systems.service.js';
import { ToolDecisionsService } from '../synchronisation/tool-sync.service.js';
import type {
  DefinedTool,
  SwitchedTool,
  ToolKey,
  ToolReviewPage,
  ToolState,
  ToolUseFinder,
} from '../model/tool.types.js';
import { ToolNotFoundError } from '../model/tools.errors.js';
import { readPage } from '../../../platform/validation/page.js';
import type { SystemKey } from '../../model/system.types.js';
import { ToolDecisionsRepository } from '../storage/tool-decisions.repository.js';
import { ToolsRepository } from '../storage/tools.repository.js';

/** Reads, enables and disables tools of MCP systems (docs/contract.md, section 2.5). */
@Injectable()
export class ToolsService {
  private findUses: ToolUseFinder = () => Promise.resolve([]);

  constructor(
    private readonly database: Database,
    private readonly systems: SystemsService,
    private readonly tools: ToolsRepository,
    private readonly decisions: ToolDecisionsService,
    private readonly kept: ToolDecisionsRepository,
    private readonly audit: AuditService,
  ) {}

  /** Registers how to find the nodes that use a system. The module of agents calls it in `onModuleInit`. */
  findUsesWith(finder: ToolUseFinder): void {
    this.findUses = finder;
  }

  /**
   * Enables or disables a tool, even in a committed version, because the flag is not part of its definition. Later versions inherit
   * the last decision about the definition; existing versions keep their flag.
   * @throws SystemNotFoundError, ToolNotFoundError, ChangedMeanwhileError
   */
  async switch(
    principal: Principal,
    key: ToolKey,
    enabled: boolean,
    ifMatch?: IfMatch,
  ): Promise<SwitchedTool> {
    const { appId, appVersionId, resourceId } = key;
    const { resourceDefinitionId, ...switched } = await this.database.write(async (manager) => {
      const version = { appId, appVersionId, resourceId };
      const { system, writable } = await this.systems.lockForSwitching(manager, version);
      const tool =
        system.id === key.systemId ? await this.tools.findPresent(manager, system.id, key.toolId) : null;
      if (tool === null) {
        throw new ToolNotFoundError();
      }
      await this.systems.demandMatch(manager, version, ifMatch);
      const change = { id: tool.id, name: tool.name, enabled, wasEnabled: tool.enabled };
      // Counts as a review even if the flag stays the same.
      if (enabled !== tool.enabled || tool.decidedBy === null) {
        await this.decisions.decide(manager, principal.user, { system, tool }, enabled);
      }
      if (enabled !== tool.enabled && writable) {
        await this.systems.save(manager, principal, system);
      }
      await this.audit.record(manager, principal, {
        action: AuditAction.ToolSwitch,
        outcome: AuditOutcome.Ok,
        appId,
        appVersionId,
        systemResourceId: resourceId,
        toolId: tool.id,
        details: { tool: tool.name, enabled, wasEnabled: tool.enabled },
      });
      // Callers that sent `If-Match` need the new tag for their next change.
      const tag = ifMatch === undefined ? null : await this.systems.tagInside(manager, version);
      return { ...change, tag, resourceDefinitionId: system.resourceDefinitionId };
    });
    const affectedNodes = await this.findUses({ appId, appVersionId, resourceDefinitionId }, (user) =>
      mayFor(principal, Permission.IntegrationManagement, user),
    );
    return { ...switched, affectedNodes };
  }

  /** Checks that a path names a present tool of an MCP system. @throws SystemNotFoundError, ToolNotFoundError */
  async demandPath({ systemId, toolId, ...system }: ToolKey): Promise<void> {
    const id = await this.systems.idOf(system);
    if (
      id !== systemId ||
      !(await this.database.read((manager) => this.tools.existsPresent(manager, id, toolId)))
    ) {
      throw new ToolNotFoundError();
    }
  }

  /** Lists tools whose current definition was not reviewed by a person (extension of the contract). @throws SystemNotFoundError */
  async waiting(
    system: SystemKey,
    { after, limit }: { after?: string; limit: number },
  ): Promise<ToolReviewPage> {
    // Reads the tag first, so that any later change makes it outdated and a decision with it is rejected.
    const systemTag = await this.systems.tag(system);
    const page = await readPage(
      limit,
      (most) =>
        this.database.read((manager) => this.tools.undecided(manager, system, { after, limit: most })),
      ({ id }) => id,
    );
    const ids = page.items.map(({ id }) => id);
    const kept = await this.database.read((manager) => this.kept.reviewed(manager, ids));
    const items = page.items.map((tool) => {
      const before = kept.get(tool.id);
      return { ...tool, before: before === undefined ? null : { ...before, name: tool.name } };
    });
    return { ...page, items, systemTag };
  }

  /** Returns the current states of tools by id, omitting deleted ones. Call it outside transactions. */
  async states(ids: readonly string[]): Promise<Map<string, ToolState>> {
    const rows = await this.database.read((manager) => this.tools.states(manager, ids));
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Returns all tools of a system, present or not, in the order of the server's list. Call it outside transactions. */
  async ofSystem(systemId: string): Promise<DefinedTool[]> {
    return this.database.read((manager) => this.tools.defined(manager, systemId));
  }
}
