import { Injectable } from '@nestjs/common';
import { IsNull, LessThanOrEqual, MoreThan, Not, type EntityManager } from 'typeorm';
import { SystemType, type SystemKey } from '../model/system.types.js';
import { SystemEntity } from '../storage/system.entity.js';

/** A system whose tools are to be read again. */
export type DueSystem = SystemKey & Pick<SystemEntity, 'connectionKey'>;

/** When the tools of systems are to be read again. */
@Injectable()
export class RefreshTimesService {
  /** MCP systems that somebody has tested and that are due, those that wait longest first. */
  async due(manager: EntityManager, now: Date, limit: number): Promise<DueSystem[]> {
    const tested = { type: SystemType.Mcp, toolsSynchronisedAt: Not(IsNull()) };
    return manager.find(SystemEntity, {
      select: { appId: true, appVersionId: true, resourceId: true, connectionKey: true },
      where: [
        { ...tested, toolsDueAt: IsNull() },
        { ...tested, toolsDueAt: LessThanOrEqual(now) },
      ],
      order: { toolsDueAt: 'ASC' },
      take: limit,
    });
  }

  /**
   * Sets the next time for all systems that a test of this one covers.
   * @returns false when none of them is due any more: another replica has them
   */
  async claim(
    manager: EntityManager,
    { appId, appVersionId, connectionKey }: DueSystem,
    now: Date,
    next: Date,
  ): Promise<boolean> {
    const covered = { appId, appVersionId, connectionKey: connectionKey ?? '', type: SystemType.Mcp };
    const of = { toolsDueAt: next };
    const waiting = await manager.update(SystemEntity, { ...covered, toolsDueAt: IsNull() }, of);
    const late = await manager.update(SystemEntity, { ...covered, toolsDueAt: LessThanOrEqual(now) }, of);
    return (waiting.affected ?? 0) + (late.affected ?? 0) > 0;
  }

  /** Makes a system due at a time, if it is not due before. */
  async bringForward(manager: EntityManager, id: string, at: Date): Promise<void> {
    await manager.update(SystemEntity, { id, toolsDueAt: MoreThan(at) }, { toolsDueAt: at });
  }
}
