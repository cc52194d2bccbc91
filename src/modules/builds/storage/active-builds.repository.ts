import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { UserReference } from '../../../common/user/user-reference.js';
import { locked } from '../../../database/row-locks.js';
import { ActiveBuildEntity } from './active-build.entity.js';

/** A build that is active. */
export interface ActiveBuild {
  buildId: string;
  activatedAt: Date;
  activatedBy: UserReference;
}

/** Which build of an application is active. */
@Injectable()
export class ActiveBuildsRepository {
  /** @returns null when no build of the application was ever activated */
  async find(manager: EntityManager, appId: string): Promise<ActiveBuild | null> {
    return toActive(await manager.findOneBy(ActiveBuildEntity, { appId }));
  }

  /** As `find`, nobody else activates a build of the application until the transaction ends. */
  async lock(manager: EntityManager, appId: string): Promise<ActiveBuild | null> {
    // The row has to be there to be locked; it is never seen without a build, because the same transaction names one.
    await manager
      .createQueryBuilder()
      .insert()
      .orIgnore()
      .into(ActiveBuildEntity)
      .values({ appId, buildId: null, activatedAt: null, activatedBy: null })
      .execute();
    const query = manager.createQueryBuilder(ActiveBuildEntity, 'active').where({ appId });
    return toActive(await locked(query, 'pessimistic_write').getOne());
  }

  /** Names the build of a locked application. */
  async update(manager: EntityManager, appId: string, active: ActiveBuild): Promise<void> {
    await manager.update(ActiveBuildEntity, { appId }, active);
  }

  /** Leaves a locked application without an active build. */
  async clear(manager: EntityManager, appId: string): Promise<void> {
    const none = { buildId: null, activatedAt: null, activatedBy: null };
    await manager.update(ActiveBuildEntity, { appId }, none);
  }
}

function toActive(row: ActiveBuildEntity | null): ActiveBuild | null {
  return row === null || row.buildId === null || row.activatedAt === null || row.activatedBy === null
    ? null
    : { buildId: row.buildId, activatedAt: row.activatedAt, activatedBy: row.activatedBy };
}
