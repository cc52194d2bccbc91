import { Injectable } from '@nestjs/common';
import { readPage, type Page } from '../../../common/page.js';
import { Database } from '../../../database/database.js';
import { SystemsService } from '../../systems/registration/systems.service.js';
import type { SystemKey } from '../../systems/model/system.types.js';
import type { WaitingTool } from '../model/tool.types.js';
import { ToolDecisionsRepository } from '../storage/tool-decisions.repository.js';
import { ToolsRepository } from '../storage/tools.repository.js';

/** Tools that wait for a decision, with the entity tag of their system: whoever decides says by it what he has seen. */
export interface ToolReviewPage extends Page<WaitingTool> {
  systemTag: string;
}

/** Tools in a page without a limit, and with one at most: definitions are long, and people read one after the other. */
export const TOOL_REVIEWS_SHOWN = 20;
export const TOOL_REVIEWS_MOST = 50;

/** What a person has to know to decide about tools (extension of the contract). Not inside of a transaction. */
@Injectable()
export class ToolReviewsService {
  constructor(
    private readonly database: Database,
    private readonly systems: SystemsService,
    private readonly tools: ToolsRepository,
    private readonly decisions: ToolDecisionsRepository,
  ) {}

  /** Tools about whose present definition no person has decided, as found. @throws SystemNotFoundError */
  async page(
    system: SystemKey,
    { after, limit = TOOL_REVIEWS_SHOWN }: { after?: string; limit?: number },
  ): Promise<ToolReviewPage> {
    // The tag comes first: what changes behind it makes it out of date, and nobody decides by it.
    const systemTag = await this.systems.tag(system);
    const page = await readPage(
      limit,
      (most) =>
        this.database.read((manager) => this.tools.undecided(manager, system, { after, limit: most })),
      ({ id }) => id,
    );
    const ids = page.items.map(({ id }) => id);
    const kept = await this.database.read((manager) => this.decisions.reviewed(manager, ids));
    const items = page.items.map((tool) => {
      const before = kept.get(tool.id);
      return { ...tool, before: before === undefined ? null : { ...before, name: tool.name } };
    });
    return { ...page, items, systemTag };
  }
}
