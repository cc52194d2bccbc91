import { And, Equal, In, LessThan, type EntityManager, type FindOperator } from 'typeorm';
import { timesIn } from '../store/tables/conditions.js';
import { insertIfAbsent } from '../store/tables/insert-if-absent.js';
import { lockOption, type HeldLock } from '../store/tables/row-locks.js';
import { AppVersionEntity, VersionDependencyEntity } from './app-version.entity.js';
import {
  AppVersionState,
  type AppVersionKey,
  type AppVersionStatus,
  type DependencyType,
  type StoredVersion,
  type VersionsQuery,
} from './apps.types.js';

/** Conditions of a part of the list; all of those of a property must hold. */
interface Bounds {
  createdAt: FindOperator<Date>[];
  appVersionId?: FindOperator<string>;
}

/** Reads and writes application versions and their dependencies. */
export const AppVersions = {
  /**
   * Reads the state of a version and locks it until the transaction ends.
   * @param lock `pessimistic_read` blocks a commit of the version, `pessimistic_write` also blocks other writers
   * @returns null when the version does not exist
   */
  async lockState(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    lock: HeldLock,
  ): Promise<AppVersionState | null> {
    const where = { appId, appVersionId };
    const row = await manager.findOne(AppVersionEntity, { where, ...lockOption(manager, lock) });
    return row?.state ?? null;
  },

  /** Adds a DRAFT version unless it exists, for example because a concurrent first writer added it. */
  async addDraft(manager: EntityManager, { appId, appVersionId }: AppVersionKey, now: Date): Promise<void> {
    const row = { appId, appVersionId, state: AppVersionState.Draft, createdAt: now, committedAt: null };
    await insertIfAbsent(manager, AppVersionEntity, row);
  },

  /** Makes a version permanently read-only. */
  async markCommitted(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    now: Date,
  ): Promise<void> {
    const state = AppVersionState.Committed;
    await manager.update(AppVersionEntity, { appId, appVersionId }, { state, committedAt: now });
  },

  /** Finds versions by key; versions that do not exist are omitted. */
  async find(manager: EntityManager, versions: AppVersionKey[]): Promise<AppVersionStatus[]> {
    return manager.find(AppVersionEntity, {
      where: versions.map(({ appId, appVersionId }) => ({ appId, appVersionId })),
    });
  },

  /** Lists versions of an application, newest first, at most `limit`. */
  async page(manager: EntityManager, query: VersionsQuery, limit: number): Promise<StoredVersion[]> {
    const { appId, status, before } = query;
    const wanted = { appId, ...(status !== undefined && { state: status }) };
    const times = timesIn(query);
    const where = (before === undefined ? [{ createdAt: [] }] : afterCursor(before)).map(
      ({ createdAt, ...id }) => {
        const bounds = [...times, ...createdAt];
        return { ...wanted, ...id, ...(bounds.length > 0 && { createdAt: And(...bounds) }) };
      },
    );
    return manager.find(AppVersionEntity, {
      where,
      order: { createdAt: 'DESC', appVersionId: 'DESC' },
      take: limit,
    });
  },

  /** Finds the versions that a version depends on, by types of dependency. */
  async dependencies(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    types: DependencyType[],
  ): Promise<AppVersionKey[]> {
    const where = { appId, appVersionId, dependencyType: In(types) };
    const rows = await manager.findBy(VersionDependencyEntity, where);
    return rows.map((row) => ({ appId: row.dependencyAppId, appVersionId: row.dependencyAppVersionId }));
  },

  /** Replaces all dependencies of one type of a version. */
  async replaceDependencies(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    dependencyType: DependencyType,
    others: AppVersionKey[],
  ): Promise<void> {
    const own = { appId, appVersionId, dependencyType };
    await manager.delete(VersionDependencyEntity, own);
    const rows = others.map((other) => ({
      ...own,
      dependencyAppId: other.appId,
      dependencyAppVersionId: other.appVersionId,
    }));
    if (rows.length > 0) {
      await manager.insert(VersionDependencyEntity, rows);
    }
  },
};

/** Returns the cursor of a version: creation time in milliseconds, and the id, since creation times are not unique. */
export function cursorOf({ createdAt, appVersionId }: StoredVersion): string {
  return `${createdAt.getTime()}-${appVersionId}`;
}

function afterCursor(cursor: string): Bounds[] {
  const [msecs = ''] = cursor.split('-', 1);
  const time = new Date(Number(msecs));
  return [
    { createdAt: [LessThan(time)] },
    { createdAt: [Equal(time)], appVersionId: LessThan(cursor.slice(msecs.length + 1)) },
  ];
}
