import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ToolDecisionEntity } from './entities/tool-decision.entity.js';
import type { ToolDecision } from './tool.types.js';

const ROWS_PER_STATEMENT = 500;
const DECISION = {
  name: true,
  definitionHash: true,
  enabled: true,
  decidedBy: true,
  decidedAt: true,
} as const;
const KEY_COLUMNS = ['resource_definition_id', 'name', 'definition_hash'];
const DECIDED_COLUMNS = ['enabled', 'decided_by', 'decided_at'];

/** Rows of decisions about tools. Whoever writes them holds the lock of the resource definition. */
@Injectable()
export class ToolDecisionsRepository {
  /** All of a resource definition. */
  async of(manager: EntityManager, resourceDefinitionId: string): Promise<ToolDecision[]> {
    return manager.find(ToolDecisionEntity, { select: DECISION, where: { resourceDefinitionId } });
  }

  /** Adds decisions, in the place of earlier ones about the same definitions. */
  async store(
    manager: EntityManager,
    resourceDefinitionId: string,
    decisions: readonly ToolDecision[],
  ): Promise<void> {
    const rows = decisions.map((decision) => ({ ...decision, resourceDefinitionId }));
    for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
      await manager
        .createQueryBuilder()
        .insert()
        .into(ToolDecisionEntity)
        .values(rows.slice(start, start + ROWS_PER_STATEMENT))
        .orUpdate(DECIDED_COLUMNS, KEY_COLUMNS)
        .execute();
    }
  }
}
