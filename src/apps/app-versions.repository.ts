import { And, Equal, In, LessThan, type EntityManager, type FindOperator } from 'typeorm';
import { timesIn } from '../store/tables/conditions.js';
import { insertUnlessThere } from '../store/tables/insert-unless-there.js';
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

/** Rows of application versions. */
export const AppVersions = {
  /**
   * The state of a version, kept as it is until the transaction ends.
   * @param lock `pessimistic_read` makes a commit of the version wait for us, `pessimistic_write` everybody who writes into it
   * @returns null when nothing was ever stored for it
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

  /** Adds a DRAFT version unless it is there, as it is when two first writers meet. */
  async addDraft(manager: EntityManager, { appId, appVersionId }: AppVersionKey, now: Date): Promise<void> {
    const row = { appId, appVersionId, state: AppVersionState.Draft, createdAt: now, committedAt: null };
    await insertUnlessThere(manager, AppVersionEntity, row);
  },

  /** Makes a version read-only for ever. */
  async markCommitted(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    now: Date,
  ): Promise<void> {
    const state = AppVersionState.Committed;
    await manager.update(AppVersionEntity, { appId, appVersionId }, { state, committedAt: now });
  },

  /** What is stored about the versions; those that hold nothing are missing. */
  async find(manager: EntityManager, versions: AppVersionKey[]): Promise<AppVersionStatus[]> {
    return manager.find(AppVersionEntity, {
      where: versions.map(({ appId, appVersionId }) => ({ appId, appVersionId })),
    });
  },

  /** Versions of an application, newest first, at most `limit`. */
  async page(manager: EntityManager, query: VersionsQuery, limit: number): Promise<StoredVersion[]> {
    const { appId, status, before } = query;
    const wanted = { appId, ...(status !== undefined && { state: status }) };
    const times = timesIn(query);
    const where = (before === undefined ? [{ createdAt: [] }] : behind(before)).map(
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

  /** The versions that a version depends on, for dependencies of the types given. */
  async dependencies(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    types: DependencyType[],
  ): Promise<AppVersionKey[]> {
    const where = { appId, appVersionId, dependencyType: In(types) };
    const rows = await manager.findBy(VersionDependencyEntity, where);
    return rows.map((row) => ({ appId: row.dependencyAppId, appVersionId: row.dependencyAppVersionId }));
  },

  /** Makes these the dependencies of a version of one type. */
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

/** Names the place of a version in the list: when it came into being, in milliseconds, and its id, since several can at once. */
export function placeOf({ createdAt, appVersionId }: StoredVersion): string {
  return `${createdAt.getTime()}-${appVersionId}`;
}

function behind(place: string): Bounds[] {
  const [msecs = ''] = place.split('-', 1);
  const time = new Date(Number(msecs));
  return [
    { createdAt: [LessThan(time)] },
    { createdAt: [Equal(time)], appVersionId: LessThan(place.slice(msecs.length + 1)) },
  ];
}
