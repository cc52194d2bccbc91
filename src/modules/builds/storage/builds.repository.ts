import { Injectable } from '@nestjs/common';
import { And, In, IsNull, LessThan, type EntityManager } from 'typeorm';
import { Table } from '../../../database/table.js';
import { timesIn, uuidsIn } from '../../../database/conditions.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { BuildStatus, type BuildQuery, type BuildSummary } from '../model/builds.types.js';
import { BuildEntity } from './build.entity.js';

const SUMMARY = {
  buildId: true,
  appId: true,
  appVersionId: true,
  status: true,
  checksum: true,
  createdAt: true,
  createdBy: true,
} as const;

/** No build takes longer from its id to its row, whatever clocks do meanwhile. */
const ID_AWAY_MS = 86_400_000;

const LISTED = new Table(BuildEntity).select(
  'buildId',
  'appId',
  'appVersionId',
  'status',
  'checksum',
  'createdAt',
  'createdBy',
);

const STANDING = new Table(BuildEntity).select('buildId', 'status', 'activatedAt');

/** How a build stands, which can change. */
export type BuildStanding = Pick<BuildEntity, 'buildId' | 'status' | 'activatedAt'>;

/** Rows of builds. There is no way to remove one, or to change what it is. */
@Injectable()
export class BuildsRepository {
  async insert(manager: EntityManager, build: BuildEntity): Promise<void> {
    await manager.insert(BuildEntity, build);
  }

  /** How builds stand, in their order; null for one that is not there. */
  async standings(manager: EntityManager, buildIds: readonly string[]): Promise<(BuildStanding | null)[]> {
    const rows = await STANDING.find(manager, { buildId: In([...buildIds]) });
    const found = new Map(rows.map((row) => [row.buildId, row]));
    return buildIds.map((buildId) => found.get(buildId) ?? null);
  }

  /** Notes that a build is active, unless it was before. */
  async noteActive(manager: EntityManager, buildId: string, activatedAt: Date): Promise<void> {
    await manager.update(BuildEntity, { buildId, activatedAt: IsNull() }, { activatedAt });
  }

  /** @returns false when it was withdrawn before */
  async withdraw(manager: EntityManager, buildId: string): Promise<boolean> {
    const before = { buildId, status: BuildStatus.Committed };
    return (await manager.update(BuildEntity, before, { status: BuildStatus.Withdrawn })).affected === 1;
  }

  /** A build of an application; null when it has none of this id. */
  async find(manager: EntityManager, appId: string, buildId: string): Promise<BuildSummary | null> {
    return manager.findOne(BuildEntity, { select: SUMMARY, where: { appId, buildId } });
  }

  /** As `find`, with everything. */
  async findWhole(manager: EntityManager, appId: string, buildId: string): Promise<BuildEntity | null> {
    return manager.findOneBy(BuildEntity, { appId, buildId });
  }

  /** Everything of a build by its id alone; null when there is no such build. */
  async whole(manager: EntityManager, buildId: string): Promise<BuildEntity | null> {
    return manager.findOneBy(BuildEntity, { buildId });
  }

  /** The application of a build; null when there is no such build. */
  async appOf(manager: EntityManager, buildId: string): Promise<string | null> {
    return (
      (await manager.findOne(BuildEntity, { select: { appId: true }, where: { buildId } }))?.appId ?? null
    );
  }

  /** The newest builds of a version, at most `limit`. */
  async ofVersion(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
    limit: number,
  ): Promise<BuildSummary[]> {
    return manager.find(BuildEntity, {
      select: SUMMARY,
      where: { appId, appVersionId },
      order: { buildId: 'DESC' },
      take: limit,
    });
  }

  /** Builds by their ids, newest first, at most `limit`. */
  async byIds(manager: EntityManager, ids: readonly string[], limit: number): Promise<BuildSummary[]> {
    return manager.find(BuildEntity, {
      select: SUMMARY,
      where: { buildId: In([...ids]) },
      order: { buildId: 'DESC' },
      take: limit,
    });
  }

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
    return LISTED.find(manager, where, { order: { buildId: 'DESC' }, limit });
  }
}
