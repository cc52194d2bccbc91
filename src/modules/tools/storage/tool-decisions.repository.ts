import { Injectable } from '@nestjs/common';
import { In, type EntityManager, type SelectQueryBuilder } from 'typeorm';
import { ToolDecisionEntity } from './tool-decision.entity.js';
import { ToolEntity } from './tool.entity.js';
import { keyOf } from '../model/tool-decisions.js';
import type { DefinedName, ToolDecision } from '../model/tool.types.js';
import { inParts } from '../../../database/statement-batches.js';

/** A resource definition, and the application that has it: there is an index for that. */
export interface DefinitionScope {
  appId: string;
  resourceDefinitionId: string;
}

/** Rows that are named by all columns of their key. */
const KEYS_PER_STATEMENT = 100;
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
  /** Those of a resource definition about tools of these names. */
  async of(
    manager: EntityManager,
    resourceDefinitionId: string,
    names: readonly string[],
  ): Promise<ToolDecision[]> {
    const found: ToolDecision[] = [];
    for (const some of inParts(names)) {
      const where = { resourceDefinitionId, name: In(some) };
      found.push(...(await manager.find(ToolDecisionEntity, { select: DECISION, where })));
    }
    return found;
  }

  /** Removes decisions about definitions that no tool has, in whichever version; those about others stay. */
  async removeUnused(
    manager: EntityManager,
    scope: DefinitionScope,
    decisions: readonly DefinedName[],
  ): Promise<void> {
    const used = new Set<string>();
    for (const some of inParts([...new Set(decisions.map(({ name }) => name))])) {
      const rows = await toolsOf(manager, scope, some).getRawMany<DefinedName>();
      rows.forEach((row) => used.add(keyOf(row)));
    }
    const { resourceDefinitionId } = scope;
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
      await manager
        .createQueryBuilder()
        .insert()
        .into(ToolDecisionEntity)
        .values(some)
        .orUpdate(DECIDED_COLUMNS, KEY_COLUMNS)
        .execute();
    }
  }
}

/** Tools of these names in all versions, present or not. */
function toolsOf(
  manager: EntityManager,
  { appId, resourceDefinitionId }: DefinitionScope,
  names: readonly string[],
): SelectQueryBuilder<ToolEntity> {
  return manager
    .createQueryBuilder(ToolEntity, 'tool')
    .innerJoin('tool.system', 'system')
    .select('tool.name', 'name')
    .addSelect('tool.definitionHash', 'definitionHash')
    .distinct()
    .where('system.appId = :appId', { appId })
    .andWhere('system.resourceDefinitionId = :resourceDefinitionId', { resourceDefinitionId })
    .andWhere('tool.name IN (:...names)', { names });
}
