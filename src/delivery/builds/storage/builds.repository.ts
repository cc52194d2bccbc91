import { And, In, LessThan, type EntityManager } from 'typeorm';
import type { UserReference } from '../../../platform/user/user-reference.js';
import { timesIn, uuidsIn } from '../../../store/tables/conditions.js';
import { isDuplicate } from '../../../store/connection/driver-errors.js';
import { Table } from '../../../store/tables/table.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import { BuildNotFoundError, type LibraryRefusal } from '../model/builds.errors.js';
import { BuildStatus, type BuildQuery, type BuildSummary } from '../model/builds.types.js';
import type { BuildLibraryDto } from '../model/package.dto.js';
import { ActiveBuildEntity, BuildEntity, BuildRepeatEntity } from './build.entity.js';

/** Maximum difference between the time in a build's id and `created_at`, including clock changes. */
const ID_AWAY_MS = 86_400_000;
const NEWEST_FIRST = { order: { buildId: 'DESC' } } as const;

const BUILDS = new Table(BuildEntity);
const WHOLE = BUILDS.selectAllBut();
const SUMMARIES = BUILDS.selectAllBut('settings', 'usableBy', 'systemsUsableBy', 'activatedAt');
const STATES = BUILDS.select('buildId', 'status', 'activatedAt');
const RIGHTS = BUILDS.select('buildId', 'status', 'usableBy', 'systemsUsableBy');
const ACTIVES = new Table(ActiveBuildEntity);
const ACTIVE = ACTIVES.select('buildId', 'activatedAt');
const REPEATS = new Table(BuildRepeatEntity);
const REPEATED = REPEATS.select('buildId');

/** The parts of a build that can change. */
export type BuildState = Pick<BuildEntity, 'buildId' | 'status' | 'activatedAt'>;

/** A build that is active. */
export interface ActiveBuild {
  buildId: string;
  activatedAt: Date;
}

/** Rows of builds. They cannot be removed, and only their state can change. */
export const Builds = {
  async insert(manager: EntityManager, build: BuildEntity): Promise<void> {
    await BUILDS.insert(manager, [build]);
  },

  /** Returns the states of builds in the given order, null for unknown builds. */
  async states(manager: EntityManager, buildIds: readonly string[]): Promise<(BuildState | null)[]> {
    const rows = await STATES.find(manager, { buildId: In([...buildIds]) });
    const found = new Map(rows.map((row) => [row.buildId, row]));
    return buildIds.map((buildId) => found.get(buildId) ?? null);
  },

  /** Returns whether a build was withdrawn. */
  async isWithdrawn(manager: EntityManager, buildId: string): Promise<boolean> {
    return (await STATES.first(manager, { buildId }))?.status === BuildStatus.Withdrawn;
  },

  /** Records the first activation of a build. */
  async noteActive(manager: EntityManager, buildId: string, activatedAt: Date): Promise<void> {
    await BUILDS.update(manager, { buildId, activatedAt: null }, { activatedAt });
  },

  /** Withdraws a build. Returns false when it was withdrawn already. */
  async withdraw(manager: EntityManager, buildId: string): Promise<boolean> {
    const before = { buildId, status: BuildStatus.Committed };
    return (await BUILDS.update(manager, before, { status: BuildStatus.Withdrawn })) === 1;
  },

  /** Returns a build of an application, or null when it has none of this id. */
  async find(manager: EntityManager, appId: string, buildId: string): Promise<BuildSummary | null> {
    return SUMMARIES.first(manager, { appId, buildId });
  },

  /** @throws BuildNotFoundError when the application has no such build */
  async require(manager: EntityManager, appId: string, buildId: string): Promise<BuildSummary> {
    return required(await Builds.find(manager, appId, buildId));
  },

  /** Returns a build with all columns. */
  async requireWhole(manager: EntityManager, appId: string, buildId: string): Promise<BuildEntity> {
    return required(await WHOLE.first(manager, { appId, buildId }));
  },

  /** Returns a build with all columns by its id alone. @throws BuildNotFoundError */
  async byId(manager: EntityManager, buildId: string): Promise<BuildEntity> {
    return required(await WHOLE.first(manager, { buildId }));
  },

  /** Returns the newest builds of a version, at most `limit`. */
  async ofVersion(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    limit: number,
  ): Promise<BuildSummary[]> {
    return SUMMARIES.find(manager, { appId, appVersionId }, { ...NEWEST_FIRST, limit });
  },

  /** Returns builds by their ids, newest first, at most `limit`. */
  async byIds(
    manager: EntityManager,
    ids: readonly string[],
    limit: number = ids.length,
  ): Promise<BuildSummary[]> {
    return SUMMARIES.find(manager, { buildId: In([...ids]) }, { ...NEWEST_FIRST, limit });
  },

  /** Returns builds of an application, newest first, at most `limit`. */
  async page(manager: EntityManager, query: BuildQuery, limit: number): Promise<BuildSummary[]> {
    const { appId, before } = query;
    const times = timesIn(query);
    // Ids contain a time close to `created_at`, so limiting them lets the index skip other builds.
    const id = [...uuidsIn(query, ID_AWAY_MS), ...(before === undefined ? [] : [LessThan(before)])];
    const where = {
      appId,
      ...(id.length > 0 && { buildId: And(...id) }),
      ...(times.length > 0 && { createdAt: And(...times) }),
    };
    return SUMMARIES.find(manager, where, { ...NEWEST_FIRST, limit });
  },
};

/** Rows of active builds. */
export const ActiveBuilds = {
  /** @returns null when no build of the application is active */
  async find(manager: EntityManager, appId: string): Promise<ActiveBuild | null> {
    return toActive(await ACTIVE.first(manager, { appId }));
  },

  /** Returns the active build and prevents other activations for the application until the transaction ends. */
  async lock(manager: EntityManager, appId: string): Promise<ActiveBuild | null> {
    // Only an existing row can be locked. It is never visible without a build, because the same transaction sets one.
    await ACTIVES.ensure(manager, { appId, buildId: null, activatedAt: null, activatedBy: null });
    return toActive(await ACTIVE.first(manager, { appId }, { lock: 'pessimistic_write' }));
  },

  /** Sets the active build of a locked application. */
  async update(manager: EntityManager, appId: string, active: ActiveBuild, by: UserReference): Promise<void> {
    await ACTIVES.update(manager, { appId }, { ...active, activatedBy: by });
  },

  /** Removes the active build of a locked application. */
  async clear(manager: EntityManager, appId: string): Promise<void> {
    await ACTIVES.update(manager, { appId }, { buildId: null, activatedAt: null, activatedBy: null });
  },
};

/** Records of calls that made builds and may be repeated. */
export const BuildRepeats = {
  /** Returns the build that a call has made, or undefined. */
  async find(manager: EntityManager, keyHash: string): Promise<string | undefined> {
    return (await REPEATED.first(manager, { keyHash }))?.buildId;
  },

  /** Records a call. Returns false when an equal call was first; waits for one that is still running. */
  async insert(manager: EntityManager, repeat: BuildRepeatEntity): Promise<boolean> {
    try {
      await REPEATS.insert(manager, [repeat]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) {
        return false;
      }
      throw error;
    }
  },

  /** Removes at most `limit` records older than a time, and returns their number. */
  async removeBefore(manager: EntityManager, time: Date, limit: number): Promise<number> {
    const found = { order: { createdAt: 'ASC' }, limit } as const;
    return REPEATS.deleteFirst(manager, 'keyHash', { createdAt: LessThan(time) }, found);
  },
};

type Library = Pick<BuildLibraryDto, 'appId' | 'buildId'>;
type Rights = Pick<BuildEntity, 'usableBy' | 'systemsUsableBy'>;

/** Determines which applications may use builds as libraries, as stated by both the build itself and the newest build of its owner. */
export const LibraryRights = {
  /**
   * Returns the builds that an application must not use as libraries, by id. Both the build and the newest build of the library, withdrawn
   * or not, must name the application, so an owner revokes consent by making a build without it.
   */
  async refusals(
    manager: EntityManager,
    userAppId: string,
    libraries: readonly Library[],
  ): Promise<ReadonlyMap<string, LibraryRefusal>> {
    const rows = await RIGHTS.find(manager, { buildId: In(libraries.map(({ buildId }) => buildId)) });
    const builds = new Map(rows.map((row) => [row.buildId, row]));
    const refusals = new Map<string, LibraryRefusal>();
    for (const { appId, buildId } of libraries) {
      const build = builds.get(buildId);
      const sources = [build, await newest(manager, appId)];
      if (build?.status === BuildStatus.Withdrawn) {
        refusals.set(buildId, 'WITHDRAWN');
      } else if (!sources.every((row) => includes(row?.usableBy, userAppId, false))) {
        refusals.set(buildId, 'NO_CONSENT');
      }
    }
    return refusals;
  },

  /** Returns whether nodes of an application may use the systems of a library build. Both the build and the newest one must allow it. */
  async lendsSystems(
    manager: EntityManager,
    { appId, buildId }: Library,
    userAppId: string,
  ): Promise<boolean> {
    const sources = [await RIGHTS.first(manager, { buildId }), await newest(manager, appId)];
    return sources.every((row) => includes(row?.systemsUsableBy, userAppId, true));
  },
};

async function newest(manager: EntityManager, appId: string): Promise<Rights | null> {
  return RIGHTS.first(manager, { appId }, { ...NEWEST_FIRST, limit: 1 });
}

/** @param fallback the result when the package has no such member */
function includes(named: string | null | undefined, appId: string, fallback: boolean): boolean {
  return typeof named !== 'string' ? fallback : (JSON.parse(named) as string[]).includes(appId);
}

function required<Row>(build: Row | null): Row {
  if (build === null) {
    throw new BuildNotFoundError();
  }
  return build;
}

function toActive(row: Pick<ActiveBuildEntity, 'buildId' | 'activatedAt'> | null): ActiveBuild | null {
  return row === null || row.buildId === null || row.activatedAt === null
    ? null
    : { buildId: row.buildId, activatedAt: row.activatedAt };
}
