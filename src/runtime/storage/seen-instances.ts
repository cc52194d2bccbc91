import { In, type EntityManager } from 'typeorm';
import { covers, type SomeApps } from '../../platform/user/grant.js';
import { inApps, type Condition, type Where } from '../../store/tables/conditions.js';
import type { InstanceQuery } from '../model/process-runtime.types.js';
import type { ProcessInstanceEntity } from './process-instance.entity.js';
import type { SeenValues } from './search-values.js';

/** Up to this many applications of a caller are queried separately. */
const FEW_APPS = 8;

/** Instances that a caller may see: those that they started and those of these applications. */
export interface Seen {
  /** Hash of the caller. */
  starter: string;
  apps: SomeApps | undefined;
}

/**
 * Returns the instances that a caller may see as index conditions, so that callers who see few do not scan those of others. Null if
 * there are too many applications or they are given by patterns.
 */
export function seenParts(
  { applicationId }: InstanceQuery,
  seen: Seen | null,
): Where<Pick<ProcessInstanceEntity, 'appId' | 'starter'>>[] | null {
  if (seen === null) {
    return [{}];
  }
  const { apps, starter } = seen;
  if (apps === undefined) {
    return [{ starter }];
  }
  if (applicationId !== undefined) {
    return covers(apps, applicationId) ? [{}] : [{ starter }];
  }
  return apps.patterns.length > 0 || apps.ids.size > FEW_APPS
    ? null
    : [{ starter }, ...[...apps.ids].map((appId) => ({ appId }))];
}

/** Returns the instances that a caller may see as one condition. */
export function seenAtAll(manager: EntityManager, seen: Seen | null): Condition[] {
  if (seen === null) {
    return [];
  }
  const { starter, apps } = seen;
  if (apps === undefined) {
    return [{ sql: 'starter = ?', values: [starter] }];
  }
  const ofApps = inApps(manager, 'app_id', apps);
  return [{ sql: `(starter = ? OR ${ofApps.sql})`, values: [starter, ...ofApps.values] }];
}

/**
 * Returns the instances that a caller may see as conditions on the indexes of search values. Only patterns other than `prefix*`
 * require reading rows of other instances.
 */
export function seenValues(manager: EntityManager, query: InstanceQuery, seen: Seen | null): SeenValues[] {
  const { applicationId } = query;
  const ofOne = applicationId === undefined ? {} : { appId: applicationId };
  const parts = seenParts(query, seen)?.map((part) => ({ where: { ...ofOne, ...part } }));
  return parts ?? (seen === null ? [] : seenOfMany(manager, seen));
}

function seenOfMany(manager: EntityManager, { starter, apps }: Seen): SeenValues[] {
  const { ids = new Set(), patterns = [] } = apps ?? {};
  const parts: SeenValues[] = [{ where: { starter } }];
  if (ids.size > 0) {
    parts.push({ where: { appId: In([...ids]) } });
  }
  if (patterns.length > 0) {
    parts.push({ where: {}, ofApps: inApps(manager, 'app_id', { ids: new Set(), patterns }) });
  }
  return parts;
}
