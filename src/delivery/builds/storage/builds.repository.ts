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

/** No build takes longer from its id to its row, whatever clocks do meanwhile. */
const ID_AWAY_MS = 86_400_000;
const NEWEST_FIRST = { order: { buildId: 'DESC' } } as const;

const BUILDS = new Table(BuildEntity);
const WHOLE = BUILDS.selectAllBut();
const SUMMARIES = BUILDS.selectAllBut('settings', 'usableBy', 'systemsUsableBy', 'activatedAt');
const STANDINGS = BUILDS.select('buildId', 'status', 'activatedAt');
const RIGHTS = BUILDS.select('buildId', 'status', 'usableBy', 'systemsUsableBy');
const ACTIVES = new Table(ActiveBuildEntity);
const ACTIVE = ACTIVES.select('buildId', 'activatedAt');
const REPEATS = new Table(BuildRepeatEntity);
const REPEATED = REPEATS.select('buildId');

/** How a build stands, which can change. */
export type BuildStanding = Pick<BuildEntity, 'buildId' | 'status' | 'activatedAt'>;

/** A build that is active. */
export interface ActiveBuild {
  buildId: string;
  activatedAt: Date;
}

/** Rows of builds. There is no way to remove one, or to change what it is. */
export const Builds = {
  async insert(manager: EntityManager, build: BuildEntity): Promise<void> {
    await BUILDS.insert(manager, [build]);
  },

  /** How builds stand, in their order; null for one that is not there. */
  async standings(manager: EntityManager, buildIds: readonly string[]): Promise<(BuildStanding | null)[]> {
    const rows = await STANDINGS.find(manager, { buildId: In([...buildIds]) });
    const found = new Map(rows.map((row) => [row.buildId, row]));
    return buildIds.map((buildId) => found.get(buildId) ?? null);
  },

  /** Whether nothing of a build is started any more. */
  async isWithdrawn(manager: EntityManager, buildId: string): Promise<boolean> {
    return (await STANDINGS.first(manager, { buildId }))?.status === BuildStatus.Withdrawn;
  },

  /** Notes that a build is active, unless it was before. */
  async noteActive(manager: EntityManager, buildId: string, activatedAt: Date): Promise<void> {
    await BUILDS.update(manager, { buildId, activatedAt: null }, { activatedAt });
  },

  /** @returns false when it was withdrawn before */
  async withdraw(manager: EntityManager, buildId: string): Promise<boolean> {
    const before = { buildId, status: BuildStatus.Committed };
    return (await BUILDS.update(manager, before, { status: BuildStatus.Withdrawn })) === 1;
  },

  /** A build of an application; null when it has none of this id. */
  async find(manager: EntityManager, appId: string, buildId: string): Promise<BuildSummary | null> {
    return SUMMARIES.first(manager, { appId, buildId });
  },

  /** @throws BuildNotFoundError when the application has no such build */
  async require(manager: EntityManager, appId: string, buildId: string): Promise<BuildSummary> {
    return required(await Builds.find(manager, appId, buildId));
  },

  /** As `require`, with everything. */
  async requireWhole(manager: EntityManager, appId: string, buildId: string): Promise<BuildEntity> {
    return required(await WHOLE.first(manager, { appId, buildId }));
  },

  /** Everything of a build by its id alone. @throws BuildNotFoundError */
  async byId(manager: EntityManager, buildId: string): Promise<BuildEntity> {
    return required(await WHOLE.first(manager, { buildId }));
  },

  /** The newest builds of a version, at most `limit`. */
  async ofVersion(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    limit: number,
  ): Promise<BuildSummary[]> {
    return SUMMARIES.find(manager, { appId, appVersionId }, { ...NEWEST_FIRST, limit });
  },

  /** Builds by their ids, newest first, at most `limit`. */
  async byIds(
    manager: EntityManager,
    ids: readonly string[],
    limit: number = ids.length,
  ): Promise<BuildSummary[]> {
    return SUMMARIES.find(manager, { buildId: In([...ids]) }, { ...NEWEST_FIRST, limit });
  },

  /** Builds of an application, newest first, at most `limit`. */
  async page(manager: EntityManager, query: BuildQuery, limit: number): Promise<BuildSummary[]> {
    const { appId, before } = query;
    const times = timesIn(query);
    // The id tells the begin of what stored the build: so other builds are not walked through.
    const id = [...uuidsIn(query, ID_AWAY_MS), ...(before === undefined ? [] : [LessThan(before)])];
    const where = {
      appId,
      ...(id.length > 0 && { buildId: And(...id) }),
      ...(times.length > 0 && { createdAt: And(...times) }),
    };
    return SUMMARIES.find(manager, where, { ...NEWEST_FIRST, limit });
  },
};

/** Which build of an application is active. */
export const ActiveBuilds = {
  /** @returns null when no build of the application is active */
  async find(manager: EntityManager, appId: string): Promise<ActiveBuild | null> {
    return toActive(await ACTIVE.first(manager, { appId }));
  },

  /** As `find`, nobody else activates a build of the application until the transaction ends. */
  async lock(manager: EntityManager, appId: string): Promise<ActiveBuild | null> {
    // The row has to be there to be locked; it is never seen without a build, because the same transaction names one.
    await ACTIVES.ensure(manager, { appId, buildId: null, activatedAt: null, activatedBy: null });
    return toActive(await ACTIVE.first(manager, { appId }, { lock: 'pessimistic_write' }));
  },

  /** Names the build of a locked application. */
  async update(manager: EntityManager, appId: string, active: ActiveBuild, by: UserReference): Promise<void> {
    await ACTIVES.update(manager, { appId }, { ...active, activatedBy: by });
  },

  /** Leaves a locked application without an active build. */
  async clear(manager: EntityManager, appId: string): Promise<void> {
    await ACTIVES.update(manager, { appId }, { buildId: null, activatedAt: null, activatedBy: null });
  },
};

/** Which builds were made by calls that may be sent again. */
export const BuildRepeats = {
  /** The build that a call has made; undefined when none has. */
  async find(manager: EntityManager, keyHash: string): Promise<string | undefined> {
    return (await REPEATED.first(manager, { keyHash }))?.buildId;
  },

  /** @returns false when an equal call was first; waits for one that is still under way */
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

  /** Removes what was stored before, at most `limit`; returns how many. */
  async removeBefore(manager: EntityManager, time: Date, limit: number): Promise<number> {
    const found = { order: { createdAt: 'ASC' }, limit } as const;
    return REPEATS.deleteFirst(manager, 'keyHash', { createdAt: LessThan(time) }, found);
  },
};

type Library = Pick<BuildLibraryDto, 'appId' | 'buildId'>;
type Rights = Pick<BuildEntity, 'usableBy' | 'systemsUsableBy'>;

/** Which applications may use builds as libraries: by the word of the build itself, and by the newest word of its owner. */
export const LibraryRights = {
  /**
   * Builds that an application must not use as libraries, by their ids. The build must name the application, and so must the newest build of
   * the library, withdrawn or not: an owner takes the consent back by making a build without it.
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
      const words = [build, await newest(manager, appId)];
      if (build?.status === BuildStatus.Withdrawn) {
        refusals.set(buildId, 'WITHDRAWN');
      } else if (!words.every((row) => includes(row?.usableBy, userAppId, false))) {
        refusals.set(buildId, 'NO_CONSENT');
      }
    }
    return refusals;
  },

  /** Whether the systems of a build may be used in nodes of an application that may use the build: asked as `refusals` asks. */
  async lendsSystems(
    manager: EntityManager,
    { appId, buildId }: Library,
    userAppId: string,
  ): Promise<boolean> {
    const words = [await RIGHTS.first(manager, { buildId }), await newest(manager, appId)];
    return words.every((row) => includes(row?.systemsUsableBy, userAppId, true));
  },
};

async function newest(manager: EntityManager, appId: string): Promise<Rights | null> {
  return RIGHTS.first(manager, { appId }, { ...NEWEST_FIRST, limit: 1 });
}

/** @param otherwise the answer when the package has no such member */
function includes(named: string | null | undefined, appId: string, otherwise: boolean): boolean {
  return typeof named !== 'string' ? otherwise : (JSON.parse(named) as string[]).includes(appId);
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
