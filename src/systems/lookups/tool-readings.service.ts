import { Injectable } from '@nestjs/common';
import { IsNull, LessThanOrEqual, MoreThan, Not, type EntityManager } from 'typeorm';
import { Database } from '../../store/database.js';
import { lockOption } from '../../store/tables/row-locks.js';
import { SystemType, type SystemKey } from '../model/system.types.js';
import { ResourceDefinitionEntity, SystemEntity } from '../storage/system.entity.js';

/** A system whose tools are due for a refresh. */
export type DueSystem = SystemKey & Pick<SystemEntity, 'connectionKey'>;

/** Tracks when the tools of systems were read and when they are due for a refresh. */
@Injectable()
export class ToolReadingsService {
  constructor(private readonly database: Database) {}

  /**
   * Locks decisions about the tools of a resource definition until the transaction ends. Call it after locking the version and the
   * system.
   * @returns whether tools were ever stored for a system of this definition
   */
  async lockDefinition(manager: EntityManager, id: string): Promise<{ wasSynchronised: boolean }> {
    const lock = lockOption(manager, 'pessimistic_write');
    const definition = await manager.findOne(ResourceDefinitionEntity, { where: { id }, ...lock });
    return { wasSynchronised: definition !== null && definition.toolsSynchronisedAt !== null };
  }

  /** Records that tools of a locked resource definition are now stored for the first time. */
  async markSynchronised(manager: EntityManager, id: string, now: Date): Promise<void> {
    await manager.update(ResourceDefinitionEntity, { id }, { toolsSynchronisedAt: now });
  }

  /** Finds tested MCP systems that are due, longest overdue first. */
  async due(now: Date, limit: number): Promise<DueSystem[]> {
    const tested = { type: SystemType.Mcp, toolsSynchronisedAt: Not(IsNull()) };
    return this.database.read((manager) =>
      manager.find(SystemEntity, {
        select: { appId: true, appVersionId: true, resourceId: true, connectionKey: true },
        where: [IsNull(), LessThanOrEqual(now)].map((toolsDueAt) => ({ ...tested, toolsDueAt })),
        order: { toolsDueAt: 'ASC' },
        take: limit,
      }),
    );
  }

  /** Sets the next due time of all systems with this connection. @returns false when another replica has claimed them */
  async claim({ appId, appVersionId, connectionKey }: DueSystem, now: Date, next: Date): Promise<boolean> {
    const covered = { appId, appVersionId, connectionKey: connectionKey ?? '', type: SystemType.Mcp };
    return this.database.write(async (manager) => {
      let claimed = 0;
      for (const toolsDueAt of [IsNull(), LessThanOrEqual(now)]) {
        const { affected } = await manager.update(
          SystemEntity,
          { ...covered, toolsDueAt },
          { toolsDueAt: next },
        );
        claimed += affected ?? 0;
      }
      return claimed > 0;
    });
  }

  /** Makes a system due at a time, unless it is due earlier. */
  async bringForward(id: string, at: Date): Promise<void> {
    await this.database.write((manager) =>
      manager.update(SystemEntity, { id, toolsDueAt: MoreThan(at) }, { toolsDueAt: at }),
    );
  }
}
