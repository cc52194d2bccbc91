import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import { inParts } from '../../../database/statement-batches.js';
import { ReviewedToolEntity } from './reviewed-tool.entity.js';

const COPIED =
  'title, description, input_schema, output_schema, annotations, definition_hash, enabled, decided_by, decided_at';

/** Rows of tools as they were when something was last decided about them. Whoever writes them has locked the system. */
@Injectable()
export class ReviewedToolsRepository {
  /** Those of some tools, by tool id. */
  async of(manager: EntityManager, toolIds: readonly string[]): Promise<Map<string, ReviewedToolEntity>> {
    const rows = await manager.findBy(ReviewedToolEntity, { toolId: In([...toolIds]) });
    return new Map(rows.map((row) => [row.toolId, row]));
  }

  /** Keeps tools as they are stored now, but for those of which one is kept. To be done before they are stored anew. */
  async keep(manager: EntityManager, toolIds: readonly string[]): Promise<void> {
    for (const some of inParts(toolIds)) {
      const kept = await this.idsAmong(manager, some);
      const others = some.filter((id) => !kept.has(id));
      if (others.length > 0) {
        // A copy inside of the database: the definitions of one list can have many megabytes.
        await manager.query(
          `INSERT INTO reviewed_tools (tool_id, system_id, ${COPIED})
           SELECT id, system_id, ${COPIED} FROM tools WHERE id IN (${others.map(() => '?').join(', ')})`,
          others,
        );
      }
    }
  }

  /** Forgets what is kept of tools: the decision about them is one about how they are defined now. */
  async forget(manager: EntityManager, toolIds: readonly string[]): Promise<void> {
    for (const some of inParts(toolIds)) {
      await manager.delete(ReviewedToolEntity, { toolId: In([...some]) });
    }
  }

  private async idsAmong(manager: EntityManager, toolIds: readonly string[]): Promise<Set<string>> {
    const where = { toolId: In([...toolIds]) };
    const rows = await manager.find(ReviewedToolEntity, { select: { toolId: true }, where });
    return new Set(rows.map(({ toolId }) => toolId));
  }
}
