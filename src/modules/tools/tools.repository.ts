import { Injectable } from '@nestjs/common';
import { In, type EntityManager, type QueryDeepPartialEntity } from 'typeorm';
import { ToolEntity } from './entities/tool.entity.js';
import type { StoredTool } from './tool-sync.js';

/** Rows per statement: with the largest schemas, every quote escaped, still below the usual packet limit of 16 MB. */
const BATCH = 32;

const UPDATED_COLUMNS = [
  'title',
  'description',
  'input_schema',
  'output_schema',
  'annotations',
  'definition_hash',
  'enabled',
  'present',
  'position',
  'modified_at',
];

/** Rows of tools. */
@Injectable()
export class ToolsRepository {
  /** Every tool of a system, present or not. */
  async ofSystem(manager: EntityManager, systemId: string): Promise<ToolEntity[]> {
    return manager.findBy(ToolEntity, { systemId });
  }

  /** A tool that its system lists; null when there is none. */
  async findPresent(manager: EntityManager, systemId: string, id: string): Promise<ToolEntity | null> {
    return manager.findOneBy(ToolEntity, { id, systemId, present: true });
  }

  async existsPresent(manager: EntityManager, systemId: string, id: string): Promise<boolean> {
    return manager.existsBy(ToolEntity, { id, systemId, present: true });
  }

  /** How many tools the systems list in all. */
  async countPresent(manager: EntityManager, systemIds: string[]): Promise<number> {
    return manager.countBy(ToolEntity, { systemId: In(systemIds), present: true });
  }

  async setEnabled(manager: EntityManager, id: string, enabled: boolean, now: Date): Promise<void> {
    await manager.update(ToolEntity, { id }, { enabled, modifiedAt: now });
  }

  /** Adds new rows and overwrites those whose id is stored. */
  async store(manager: EntityManager, rows: StoredTool[]): Promise<void> {
    for (let start = 0; start < rows.length; start += BATCH) {
      await manager
        .createQueryBuilder()
        .insert()
        .into(ToolEntity)
        .values(rows.slice(start, start + BATCH) as QueryDeepPartialEntity<ToolEntity>[])
        .orUpdate(UPDATED_COLUMNS, ['id'])
        .execute();
    }
  }
}
