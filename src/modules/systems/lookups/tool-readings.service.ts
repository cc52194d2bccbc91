import { Injectable } from '@nestjs/common';
import { IsNull, LessThanOrEqual, MoreThan, Not, type EntityManager } from 'typeorm';
import { SystemType, type SystemKey } from '../model/system.types.js';
import { ResourceDefinitionEntity, SystemEntity } from '../storage/system.entity.js';
import { SystemsRepository } from '../storage/systems.repository.js';

/** A system whose tools are to be read again. */
export type DueSystem = SystemKey & Pick<SystemEntity, 'connectionKey'>;

/** When the tools of systems were read, and are to be read again. Inside of the caller's transaction. */
@Injectable()
export class ToolReadingsService {
  constructor(private readonly systems: SystemsRepository) {}

  /**
   * Keeps everybody else from deciding on tools of a resource definition until the transaction ends. To be called after the version
   * and the system are locked.
   * @returns whether tools of any system of the definition were ever stored
   */
  async lockDefinition(manager: EntityManager, id: string): Promise<{ wasSynchronised: boolean }> {
    const definition = await this.systems.lockDefinition(manager, id);
    return { wasSynchronised: definition !== null && definition.toolsSynchronisedAt !== null };
  }

  /** Notes that tools of a locked resource definition are stored now for the first time. */
  async markSynchronised(manager: EntityManager, id: string, now: Date): Promise<void> {
    await manager.update(ResourceDefinitionEntity, { id }, { toolsSynchronisedAt: now });
  }

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

  /** Sets the next time for all systems that a test of this one covers. @returns false when another replica has them */
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
