import type { EntityManager } from 'typeorm';
import type { SomeApps } from '../platform/user/grant.js';
import { toDate, type RawRow } from '../store/tables/column-values.js';
import { inApps } from '../store/tables/conditions.js';
import type { ListedApplicationDto } from './reading/application.dto.js';

/**
 * Returns up to `limit` applications with versions, ordered by id. Raw SQL, because the entity manager does not group.
 * @param after only ids behind this one
 * @param apps only these applications; null for all
 */
export async function readApplications(
  manager: EntityManager,
  after: string | undefined,
  apps: SomeApps | null,
  limit: number,
): Promise<ListedApplicationDto[]> {
  const { sql, values } = inApps(manager, 'app_id', apps);
  const rows = await manager.query<RawRow[]>(
    `SELECT app_id AS appId, COUNT(*) AS versions, MIN(created_at) AS createdAt, MAX(committed_at) AS committedAt
     FROM app_versions WHERE app_id > ?${sql === '' ? '' : ` AND ${sql}`} GROUP BY app_id ORDER BY app_id LIMIT ?`,
    [after ?? '', ...values, limit],
  );
  return rows.map(({ appId, versions, createdAt, committedAt }) => ({
    applicationId: String(appId),
    versions: Number(versions),
    createdDate: toDate(createdAt),
    committedDate: committedAt === null ? null : toDate(committedAt),
  }));
}
