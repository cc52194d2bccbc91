/** A set of applications, by ids and patterns of ids. */
export interface SomeApps {
  readonly ids: ReadonlySet<string>;
  /** Ids in which `*` matches any number of characters. */
  readonly patterns: readonly string[];
}

/** Applications for which a permission is granted. */
export type Grant = 'all' | SomeApps;

const NO_APPS: SomeApps = { ids: new Set(), patterns: [] };

interface Granted {
  readonly permissions: ReadonlyMap<string, Grant>;
}

/** Returns the applications for which a caller has a permission; null for all. */
export function appsOf({ permissions }: Granted, permission: string): SomeApps | null {
  const grant = permissions.get(permission) ?? NO_APPS;
  return grant === 'all' ? null : grant;
}

/** Returns whether a caller has a permission for an application. */
export function mayFor({ permissions }: Granted, permission: string, appId: string): boolean {
  const grant = permissions.get(permission);
  return grant !== undefined && covers(grant, appId);
}

/**
 * Returns whether a caller lacks a permission for some applications, so that the application of each resource must be
 * checked.
 */
export function isLimited({ permissions }: Granted, permission: string): boolean {
  return permissions.get(permission) !== 'all';
}

/** Returns whether a grant includes an application. */
export function covers(grant: Grant, appId: string): boolean {
  return (
    grant === 'all' ||
    grant.ids.has(appId) ||
    grant.patterns.some((pattern) => matchesPattern(appId, pattern))
  );
}

/** Combines grants; returns undefined if they include no application. */
export function combineGrants(grants: readonly Grant[]): Grant | undefined {
  if (grants.includes('all')) {
    return 'all';
  }
  const some = grants.filter((grant) => grant !== 'all');
  const ids = new Set(some.flatMap((grant) => [...grant.ids]));
  const patterns = [...new Set(some.flatMap((grant) => grant.patterns))];
  return ids.size + patterns.length === 0 ? undefined : { ids, patterns };
}

/**
 * Searches the parts between the `*` of a pattern one after the other, without backtracking, so that the time is
 * bounded.
 */
function matchesPattern(text: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) {
    return text === pattern;
  }
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last) || end < first.length) {
    return false;
  }
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) {
      return false;
    }
    at = found + part.length;
  }
  return at <= end;
}
