import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import type { LibraryRefusal } from '../model/builds.errors.js';
import { BuildStatus, type BuildLibrary } from '../model/builds.types.js';
import { BuildEntity } from './build.entity.js';

type Library = Pick<BuildLibrary, 'appId' | 'buildId'>;

/** Which applications may use builds as libraries: by the word of the build itself, and by the newest word of its owner. */
@Injectable()
export class LibraryRightsRepository {
  /**
   * Builds that an application must not use as libraries, by their ids. The build must name the application, and so must the newest build of
   * the library, withdrawn or not: an owner takes the consent back by making a build without it.
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
    const refusals = new Map<string, LibraryRefusal>();
    for (const { appId, buildId } of libraries) {
      const build = builds.get(buildId);
      const newest = await this.newest(manager, appId);
      const isNamed = (named: string | null | undefined): boolean => includes(named, userAppId, false);
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
    return [build, newest].every((row) => includes(row?.systemsUsableBy, userAppId, true));
  }

  private async newest(manager: EntityManager, appId: string): Promise<BuildEntity | null> {
    return manager.findOne(BuildEntity, {
      select: { buildId: true, usableBy: true, systemsUsableBy: true },
      where: { appId },
      order: { buildId: 'DESC' },
    });
  }
}

/** @param otherwise the answer when the package has no such member */
function includes(named: string | null | undefined, appId: string, otherwise: boolean): boolean {
  return typeof named !== 'string' ? otherwise : (JSON.parse(named) as string[]).includes(appId);
}
