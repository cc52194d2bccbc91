import { Injectable } from '@nestjs/common';
import { In, type EntityManager, type FindOptionsSelect } from 'typeorm';
import { ReviewedToolEntity, ToolDecisionEntity, ToolEntity } from './tool.entity.js';
import type { SystemEntity } from '../../storage/system.entity.js';
import { keyOf } from '../model/tool-decisions.js';
import type { DefinedName, ToolDecision } from '../model/tool.types.js';
import { inParts } from '../../../store/tables/statement-batches.js';

/** A resource definition, and the application that has it: there is an index for that. */
type DefinitionScope = Pick<SystemEntity, 'appId' | 'resourceDefinitionId'>;

/** Rows that are named by all columns of their key. */
const KEYS_PER_STATEMENT = 100;
const COPIED =
  'title, description, input_schema, output_schema, annotations, definition_hash, enabled, decided_by, decided_at';

/** Rows of decisions about tools, and of tools as they were then. Writers have locked the resource definition. */
@Injectable()
export class ToolDecisionsRepository {
  /** Those of a resource definition about tools of these names. */
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

  /** Removes decisions about definitions that no tool has, in whichever version; those about others stay. */
  async removeUnused(
    manager: EntityManager,
    { appId, resourceDefinitionId }: DefinitionScope,
    decisions: readonly DefinedName[],
  ): Promise<void> {
    const used = new Set<string>();
    for (const names of inParts([...new Set(decisions.map(({ name }) => name))])) {
      // Tools of these names in all versions, present or not.
      const rows = await manager
        .createQueryBuilder(ToolEntity, 'tool')
        .innerJoin('tool.system', 'system')
        .select('tool.name', 'name')
        .addSelect('tool.definitionHash', 'definitionHash')
        .distinct()
        .where('system.appId = :appId', { appId })
        .andWhere('system.resourceDefinitionId = :resourceDefinitionId', { resourceDefinitionId })
        .andWhere('tool.name IN (:...names)', { names })
        .getRawMany<DefinedName>();
      rows.forEach((row) => used.add(keyOf(row)));
    }
    const unused = decisions
      .filter((decision) => !used.has(keyOf(decision)))
      .map(({ name, definitionHash }) => ({ resourceDefinitionId, name, definitionHash }));
    for (const some of inParts(unused, KEYS_PER_STATEMENT)) {
      await manager.createQueryBuilder().delete().from(ToolDecisionEntity).whereInIds(some).execute();
    }
  }

  /** Adds decisions, in the place of earlier ones about the same definitions. */
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

  /** Tools as they were when something was last decided about them, by tool id. */
  async reviewed(
    manager: EntityManager,
    toolIds: readonly string[],
    select?: FindOptionsSelect<ReviewedToolEntity>,
  ): Promise<Map<string, ReviewedToolEntity>> {
    const where = { toolId: In([...toolIds]) };
    const rows = await manager.find(ReviewedToolEntity, { where, ...(select && { select }) });
    return new Map(rows.map((row) => [row.toolId, row]));
  }

  /** Keeps tools as they are stored now, but for those of which one is kept. To be done before they are stored anew. */
  async keep(manager: EntityManager, toolIds: readonly string[]): Promise<void> {
    for (const some of inParts(toolIds)) {
      const kept = await this.reviewed(manager, some, { toolId: true });
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
}
