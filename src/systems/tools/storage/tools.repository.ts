import { Injectable } from '@nestjs/common';
import { In, IsNull, MoreThan, type EntityManager, type QueryDeepPartialEntity } from 'typeorm';
import type { SystemKey } from '../../model/system.types.js';
import { ToolEntity, type ToolRow } from './tool.entity.js';
import type { Decided, DefinedTool, ToolDefinition, ToolState } from '../model/tool.types.js';
import { inParts } from '../../../store/tables/statement-batches.js';

/** Rows per statement. Stays below the usual packet limit of 16 MB, even with the largest schemas and all quotes escaped. */
const BATCH = 32;

/** Columns that a synchronisation plan needs: the hash, not the definition. */
const STORED = {
  id: true,
  name: true,
  definitionHash: true,
  enabled: true,
  decidedBy: true,
  decidedAt: true,
  present: true,
  position: true,
  createdAt: true,
  modifiedAt: true,
} as const;
const STATE = { id: true, name: true, enabled: true, present: true, definitionHash: true } as const;
const DEFINED = {
  ...STATE,
  description: true,
  inputSchema: true,
  annotations: true,
  position: true,
} as const;

/** A stored tool without its definition. */
export type StoredTool = Pick<ToolEntity, keyof typeof STORED>;

@Injectable()
export class ToolsRepository {
  /** Finds all tools of a system, present or not, without their definitions. */
  async ofSystem(manager: EntityManager, systemId: string): Promise<StoredTool[]> {
    return manager.find(ToolEntity, { select: STORED, where: { systemId } });
  }

  /** Finds stored definitions, by tool id. */
  async definitions(manager: EntityManager, ids: string[]): Promise<Map<string, ToolDefinition>> {
    const tools = await manager.findBy(ToolEntity, { id: In(ids) });
    return new Map(tools.map((tool) => [tool.id, tool]));
  }

  /** Finds the current states of tools; unknown ids are omitted. */
  async states(manager: EntityManager, ids: readonly string[]): Promise<ToolState[]> {
    const found: ToolState[] = [];
    for (const some of inParts(ids)) {
      const where = { id: In(some) };
      found.push(...(await manager.find(ToolEntity, { select: STATE, where })));
    }
    return found;
  }

  /** Finds all tools of a system, present or not, with their definitions, in the order of the server's list. */
  async defined(manager: EntityManager, systemId: string): Promise<DefinedTool[]> {
    const rows = await manager.find(ToolEntity, { select: DEFINED, where: { systemId } });
    return rows.toSorted((one, other) => one.position - other.position);
  }

  /** Lists present tools of a system whose current definition was not reviewed by a person, by id, starting after `after`. */
  async undecided(
    manager: EntityManager,
    { appId, appVersionId, resourceId }: SystemKey,
    { after = '', limit }: { after?: string | undefined; limit: number },
  ): Promise<ToolEntity[]> {
    const system = { appId, appVersionId, resourceId };
    const where = { system, present: true, decidedBy: IsNull(), id: MoreThan(after) };
    return manager.find(ToolEntity, { where, order: { id: 'ASC' }, take: limit });
  }

  /** Marks tools as no longer present. */
  async markGone(manager: EntityManager, ids: string[], now: Date): Promise<void> {
    for (const some of inParts(ids)) {
      await manager.update(ToolEntity, { id: In(some) }, { present: false, modifiedAt: now });
    }
  }

  /** Finds a present tool. */
  async findPresent(manager: EntityManager, systemId: string, id: string): Promise<ToolEntity | null> {
    return manager.findOneBy(ToolEntity, { id, systemId, present: true });
  }

  async existsPresent(manager: EntityManager, systemId: string, id: string): Promise<boolean> {
    return manager.existsBy(ToolEntity, { id, systemId, present: true });
  }

  /** Counts the present tools of systems. */
  async countPresent(manager: EntityManager, systemIds: string[]): Promise<number> {
    return manager.countBy(ToolEntity, { systemId: In(systemIds), present: true });
  }

  /** Stores a decision. @param modifiedAt when the flag last changed */
  async decide(manager: EntityManager, id: string, decided: Decided, modifiedAt: Date): Promise<void> {
    await manager.update(ToolEntity, { id }, { ...decided, modifiedAt });
  }

  /** Inserts rows, or overwrites those with the same id. */
  async store(manager: EntityManager, rows: ToolRow[]): Promise<void> {
    for (const some of inParts(rows, BATCH)) {
      await manager.upsert(ToolEntity, some as QueryDeepPartialEntity<ToolEntity>[], ['id']);
    }
  }
}
