import { And, In, type EntityManager } from 'typeorm';
import type { SomeApps } from '../platform/user/grant.js';
import { toDate, type RawRow } from '../store/tables/column-values.js';
import { appCondition, type Condition, timesIn } from '../store/tables/conditions.js';
import type { RowLock } from '../store/tables/row-locks.js';
import { sqlTime } from '../store/tables/table-columns.js';
import { Table } from '../store/tables/table.js';
import { AppVersionEntity, VersionDependencyEntity } from './app-version.entity.js';
import {
  AppVersionState,
  type AppVersionKey,
  type AppVersionStatus,
  type DependencyType,
  type StoredVersion,
  type VersionsQuery,
} from './apps.types.js';
import type { ListedApplicationDto } from './reading/application.dto.js';

const VERSIONS = new Table(AppVersionEntity);
const WHOLE = VERSIONS.selectAllBut();
const STATE = VERSIONS.select('state');
const DEPENDENCIES = new Table(VersionDependencyEntity);
const DEPENDENCY = DEPENDENCIES.select('dependencyAppId', 'dependencyAppVersionId');

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
    lock: RowLock,
  ): Promise<AppVersionState | null> {
    return (await STATE.first(manager, { appId, appVersionId }, { lock }))?.state ?? null;
  },

  /** Adds a DRAFT version unless it is there, as it is when two first writers meet. */
  async addDraft(manager: EntityManager, { appId, appVersionId }: AppVersionKey, now: Date): Promise<void> {
    const row = { appId, appVersionId, state: AppVersionState.Draft, createdAt: now, committedAt: null };
    await VERSIONS.insert(manager, [row], true);
  },

  /** Makes a version read-only for ever. */
  async markCommitted(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    now: Date,
  ): Promise<void> {
    const state = AppVersionState.Committed;
    await VERSIONS.update(manager, { appId, appVersionId }, { state, committedAt: now });
  },

  /** What is stored about the versions; those that hold nothing are missing. */
  async find(manager: EntityManager, versions: AppVersionKey[]): Promise<AppVersionStatus[]> {
    return manager.find(AppVersionEntity, {
      where: versions.map(({ appId, appVersionId }) => ({ appId, appVersionId })),
    });
  },

  /** Applications with a version behind `after`, by id, at most `limit`. @param apps only these; null for all */
  async applications(
    manager: EntityManager,
    after: string | undefined,
    apps: SomeApps | null,
    limit: number,
  ): Promise<ListedApplicationDto[]> {
    const values = [after ?? ''];
    const bind = (value: string): string => {
      values.push(value);
      return '?';
    };
    const among = apps === null ? '' : ` AND ${appCondition(manager.connection, 'app_id', apps, bind)}`;
    const rows = await manager.query<RawRow[]>(
      `SELECT app_id AS appId, COUNT(*) AS versions, MIN(created_at) AS createdAt, MAX(committed_at) AS committedAt
       FROM app_versions WHERE app_id > ?${among} GROUP BY app_id ORDER BY app_id LIMIT ?`,
      [...values, limit],
    );
    return rows.map(({ appId, versions, createdAt, committedAt }) => ({
      applicationId: String(appId),
      versions: Number(versions),
      createdDate: toDate(createdAt),
      committedDate: committedAt === null ? null : toDate(committedAt),
    }));
  },

  /** Versions of an application, newest first, at most `limit`. */
  async page(manager: EntityManager, query: VersionsQuery, limit: number): Promise<StoredVersion[]> {
    const { appId, status, before } = query;
    const times = timesIn(query);
    const where = {
      appId,
      ...(status !== undefined && { state: status }),
      ...(times.length > 0 && { createdAt: And(...times) }),
    };
    return WHOLE.find(manager, where, {
      order: { createdAt: 'DESC', appVersionId: 'DESC' },
      limit,
      and: before === undefined ? undefined : behind(before),
    });
  },

  /** The versions that a version depends on, for dependencies of the types given. */
  async dependencies(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    types: DependencyType[],
  ): Promise<AppVersionKey[]> {
    const rows = await DEPENDENCY.find(manager, { appId, appVersionId, dependencyType: In(types) });
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
    await DEPENDENCIES.delete(manager, own);
    await DEPENDENCIES.insert(
      manager,
      others.map((other) => ({
        ...own,
        dependencyAppId: other.appId,
        dependencyAppVersionId: other.appVersionId,
      })),
    );
  },
};

/** Names the place of a version in the list: when it came into being, in milliseconds, and its id, since several can at once. */
export function placeOf({ createdAt, appVersionId }: StoredVersion): string {
  return `${createdAt.getTime()}-${appVersionId}`;
}

function behind(place: string): Condition {
  const [msecs = ''] = place.split('-', 1);
  const time = sqlTime(new Date(Number(msecs)));
  return {
    sql: 'created_at <= ? AND (created_at < ? OR app_version_id < ?)',
    values: [time, time, place.slice(msecs.length + 1)],
  };
}
