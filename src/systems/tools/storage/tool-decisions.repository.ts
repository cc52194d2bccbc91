import { Injectable } from '@nestjs/common';
import { In, type EntityManager, type FindOptionsSelect } from 'typeorm';
import { ReviewedToolEntity, ToolDecisionEntity } from './tool.entity.js';
import { copyTools, definedNames, type DefinitionScope } from './tools.statements.js';
import { keyOf } from '../model/tool-decisions.js';
import type { DefinedName, ToolDecision } from '../model/tool.types.js';
import { inParts } from '../../../store/tables/statement-batches.js';

/** Maximum number of rows that a statement selects by composite keys. */
const KEYS_PER_STATEMENT = 100;

/** Stores decisions about tools, and snapshots of reviewed tools. Writers must have locked the resource definition. */
@Injectable()
export class ToolDecisionsRepository {
  /** Finds decisions about tools of a resource definition, by tool names. */
  async of(
    manager: EntityManager,
    resourceDefinitionId: string,
    names: readonly string[],
  ): Promise<ToolDecision[]> {
    const found: ToolDecision[] = [];
    for (const some of inParts(names)) {
      found.push(...(await manager.findBy(ToolDecisionEntity, { resourceDefinitionId, name: In(some) })));
    }
    return found;
  }

  /** Removes those of the given decisions whose definition no tool has in any version. */
  async removeUnused(
    manager: EntityManager,
    { appId, resourceDefinitionId }: DefinitionScope,
    decisions: readonly DefinedName[],
  ): Promise<void> {
    const used = new Set<string>();
    for (const names of inParts([...new Set(decisions.map(({ name }) => name))])) {
      const rows = await definedNames(manager, { appId, resourceDefinitionId }, names);
      rows.forEach((row) => used.add(keyOf(row)));
    }
    const unused = decisions
      .filter((decision) => !used.has(keyOf(decision)))
      .map(({ name, definitionHash }) => ({ resourceDefinitionId, name, definitionHash }));
    for (const some of inParts(unused, KEYS_PER_STATEMENT)) {
      await manager.delete(ToolDecisionEntity, some);
    }
  }

  /** Adds decisions, replacing earlier ones about the same definitions. */
  async store(
    manager: EntityManager,
    resourceDefinitionId: string,
    decisions: readonly ToolDecision[],
  ): Promise<void> {
    const rows = decisions.map((decision) => ({ ...decision, resourceDefinitionId }));
    for (const some of inParts(rows)) {
      await manager.upsert(ToolDecisionEntity, some, ['resourceDefinitionId', 'name', 'definitionHash']);
    }
  }

  /** Finds snapshots of tools at their last decision, by tool id. */
  async reviewed(
    manager: EntityManager,
    toolIds: readonly string[],
    select?: FindOptionsSelect<ReviewedToolEntity>,
  ): Promise<Map<string, ReviewedToolEntity>> {
    const where = { toolId: In([...toolIds]) };
    const rows = await manager.find(ReviewedToolEntity, { where, ...(select && { select }) });
    return new Map(rows.map((row) => [row.toolId, row]));
  }

  /** Stores snapshots of tools that have none. Call it before storing new definitions. */
  async keep(manager: EntityManager, toolIds: readonly string[]): Promise<void> {
    for (const some of inParts(toolIds)) {
      const kept = await this.reviewed(manager, some, { toolId: true });
      const others = some.filter((id) => !kept.has(id));
      if (others.length > 0) {
        await copyTools(manager, others);
      }
    }
  }

  /** Removes snapshots of tools whose decision is about the current definition. */
  async forget(manager: EntityManager, toolIds: readonly string[]): Promise<void> {
    for (const some of inParts(toolIds)) {
      await manager.delete(ReviewedToolEntity, { toolId: In([...some]) });
    }
  }
}
