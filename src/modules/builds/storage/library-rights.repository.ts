import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import { BuildEntity } from './build.entity.js';
import { LibraryUserEntity } from './library-user.entity.js';

/** Who may use builds as libraries. None of it ever changes. */
@Injectable()
export class LibraryRightsRepository {
  /** The applications that each of these builds names; null for one whose package says nothing of it. */
  async usableBy(
    manager: EntityManager,
    buildIds: readonly string[],
  ): Promise<Map<string, readonly string[] | null>> {
    const rows = await manager.find(BuildEntity, {
      select: { buildId: true, usableBy: true },
      where: { buildId: In([...buildIds]) },
    });
    return new Map(
      rows.map(({ buildId, usableBy }) => [
        buildId,
        usableBy === null ? null : (JSON.parse(usableBy) as string[]),
      ]),
    );
  }

  /** Whether the systems of a build may be used in nodes of an application that may use the build. */
  async lendsSystems(manager: EntityManager, buildId: string, userAppId: string): Promise<boolean> {
    const row = await manager.findOne(BuildEntity, { select: { systemsUsableBy: true }, where: { buildId } });
    const named = row?.systemsUsableBy ?? null;
    return named === null || (JSON.parse(named) as string[]).includes(userAppId);
  }

  /** The libraries that an application used before their packages said who may. */
  async usedBefore(manager: EntityManager, userAppId: string): Promise<Set<string>> {
    const rows = await manager.findBy(LibraryUserEntity, { userAppId });
    return new Set(rows.map(({ libraryAppId }) => libraryAppId));
  }
}
