import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import { locked } from '../../database/row-locks.js';
import {
  AppVersionState,
  type AppVersionKey,
  type AppVersionStatus,
  type DependencyType,
} from './apps.types.js';
import { AppVersionEntity } from './app-version.entity.js';
import { VersionDependencyEntity } from './version-dependency.entity.js';

/** Rows of application versions. */
@Injectable()
export class AppVersionsRepository {
  /**
   * The state of a version, kept as it is until the transaction ends.
   * @param mode `pessimistic_read` makes a commit of the version wait for us, `pessimistic_write` everybody who writes into it
   * @returns null when nothing was ever stored for it
   */
  async lockState(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    mode: 'pessimistic_read' | 'pessimistic_write' = 'pessimistic_read',
  ): Promise<AppVersionState | null> {
    const query = manager.createQueryBuilder(AppVersionEntity, 'version').where({ appId, appVersionId });
    const row = await locked(query, mode).getOne();
    return row?.state ?? null;
  }

  /** Adds a DRAFT version unless it is there, as it is when two first writers meet. */
  async addDraft(manager: EntityManager, { appId, appVersionId }: AppVersionKey, now: Date): Promise<void> {
    await manager
      .createQueryBuilder()
      .insert()
      .orIgnore()
      .into(AppVersionEntity)
      .values({ appId, appVersionId, state: AppVersionState.Draft, createdAt: now, committedAt: null })
      .execute();
  }

  /** Makes a version read-only for ever. */
  async markCommitted(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    now: Date,
  ): Promise<void> {
    const state = AppVersionState.Committed;
    await manager.update(AppVersionEntity, { appId, appVersionId }, { state, committedAt: now });
  }

  /** What is stored about the versions; those that hold nothing are missing. */
  async find(manager: EntityManager, versions: AppVersionKey[]): Promise<AppVersionStatus[]> {
    return manager.find(AppVersionEntity, {
      where: versions.map(({ appId, appVersionId }) => ({ appId, appVersionId })),
    });
  }

  /** The versions that a version depends on, for dependencies of the types given. */
  async dependencies(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    types: DependencyType[],
  ): Promise<AppVersionKey[]> {
    const rows = await manager.findBy(VersionDependencyEntity, {
      appId,
      appVersionId,
      dependencyType: In(types),
    });
    return rows.map((row) => ({ appId: row.dependencyAppId, appVersionId: row.dependencyAppVersionId }));
  }

  async addDependencies(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    dependencyType: DependencyType,
    others: AppVersionKey[],
  ): Promise<void> {
    const rows = others.map((other) => ({
      appId,
      appVersionId,
      dependencyType,
      dependencyAppId: other.appId,
      dependencyAppVersionId: other.appVersionId,
    }));
    if (rows.length > 0) {
      await manager.insert(VersionDependencyEntity, rows);
    }
  }

  async removeDependencies(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    dependencyType: DependencyType,
  ): Promise<void> {
    await manager.delete(VersionDependencyEntity, { appId, appVersionId, dependencyType });
  }
}
