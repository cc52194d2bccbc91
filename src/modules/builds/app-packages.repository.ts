import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import type { AppVersionKey } from '../apps/apps.types.js';
import { AppPackageEntity } from './entities/app-package.entity.js';

/** Rows of application packages, one a version. */
@Injectable()
export class AppPackagesRepository {
  constructor(private readonly clock: Clock) {}

  async find(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
  ): Promise<AppPackageEntity | null> {
    return manager.findOneBy(AppPackageEntity, { appId, appVersionId });
  }

  /** The checksum of the package of a version; null when there is none. */
  async checksum(manager: EntityManager, { appId, appVersionId }: AppVersionKey): Promise<string | null> {
    const where = { appId, appVersionId };
    const row = await manager.findOne(AppPackageEntity, {
      select: { appId: true, appVersionId: true, checksum: true },
      where,
    });
    return row?.checksum ?? null;
  }

  /** Adds or replaces the package of a version that is open for replacing. */
  async store(manager: EntityManager, row: Omit<AppPackageEntity, 'storedAt'>): Promise<void> {
    await manager.delete(AppPackageEntity, { appId: row.appId, appVersionId: row.appVersionId });
    await manager.insert(AppPackageEntity, { ...row, storedAt: this.clock.now() });
  }
}
