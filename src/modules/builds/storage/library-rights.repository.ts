import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import type { LibraryRefusal } from '../model/builds.errors.js';
import { BuildStatus, type BuildLibrary } from '../model/builds.types.js';
import { BuildEntity } from './build.entity.js';
import { LibraryUserEntity } from './library-user.entity.js';

type Library = Pick<BuildLibrary, 'appId' | 'buildId'>;

/** Which applications may use builds as libraries: by the word of the build itself, and by the newest word of its owner. */
@Injectable()
export class LibraryRightsRepository {
  /**
   * Builds that an application must not use as libraries, by their ids. The build must name the application, and so must the newest build of
   * the library that was not withdrawn: an owner takes the consent back by making a build without it.
   */
  async refusals(
    manager: EntityManager,
    userAppId: string,
    libraries: readonly Library[],
  ): Promise<ReadonlyMap<string, LibraryRefusal>> {
    const rows = await manager.find(BuildEntity, {
      select: { buildId: true, status: true, usableBy: true },
      where: { buildId: In(libraries.map(({ buildId }) => buildId)) },
    });
    const builds = new Map(rows.map((row) => [row.buildId, row]));
    const before = await this.usedBefore(manager, userAppId);
    const refusals = new Map<string, LibraryRefusal>();
    for (const { appId, buildId } of libraries) {
      const build = builds.get(buildId);
      const newest = await this.newest(manager, appId);
      const isNamed = (named: string | null | undefined): boolean =>
        includes(named ?? null, userAppId, before.has(appId));
      if (build?.status === BuildStatus.Withdrawn) {
        refusals.set(buildId, 'WITHDRAWN');
      } else if (!isNamed(build?.usableBy) || !isNamed(newest?.usableBy)) {
        refusals.set(buildId, 'NO_CONSENT');
      }
    }
    return refusals;
  }

  /** Whether the systems of a build may be used in nodes of an application that may use the build: asked as `refusals` asks. */
  async lendsSystems(
    manager: EntityManager,
    { appId, buildId }: Library,
    userAppId: string,
  ): Promise<boolean> {
    const select = { systemsUsableBy: true } as const;
    const build = await manager.findOne(BuildEntity, { select, where: { buildId } });
    const newest = await this.newest(manager, appId);
    return [build, newest].every((row) => includes(row?.systemsUsableBy ?? null, userAppId, true));
  }

  private async newest(manager: EntityManager, appId: string): Promise<BuildEntity | null> {
    return manager.findOne(BuildEntity, {
      select: { buildId: true, usableBy: true, systemsUsableBy: true },
      where: { appId, status: BuildStatus.Committed },
      order: { buildId: 'DESC' },
    });
  }

  /** The libraries that an application used before their packages said who may. */
  private async usedBefore(manager: EntityManager, userAppId: string): Promise<Set<string>> {
    const rows = await manager.findBy(LibraryUserEntity, { userAppId });
    return new Set(rows.map(({ libraryAppId }) => libraryAppId));
  }
}

/** @param otherwise where the package says nothing */
function includes(named: string | null, appId: string, otherwise: boolean): boolean {
  return named === null ? otherwise : (JSON.parse(named) as string[]).includes(appId);
}
