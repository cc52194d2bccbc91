import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import type { DefinedTool, ToolState } from '../model/tool.types.js';
import { ToolsRepository } from '../storage/tools.repository.js';

/** Tools as they are at this moment, for callers who are about to call them. Not inside of a transaction. */
@Injectable()
export class ToolStatesService {
  constructor(
    private readonly database: Database,
    private readonly tools: ToolsRepository,
  ) {}

  /** Tools by their ids; those that are not stored any more are missing. */
  async byIds(ids: readonly string[]): Promise<Map<string, ToolState>> {
    const rows = await this.database.read((manager) => this.tools.states(manager, ids));
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Every tool of a system, listed by its server or not, in the order of its list. */
  async ofSystem(systemId: string): Promise<DefinedTool[]> {
    return this.database.read((manager) => this.tools.defined(manager, systemId));
  }
}
