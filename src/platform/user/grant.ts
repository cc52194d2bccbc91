/** Some applications: those with these ids, and those whose ids a pattern meets. */
export interface SomeApps {
  readonly ids: ReadonlySet<string>;
  /** Ids in which `*` stands for any number of characters. */
  readonly patterns: readonly string[];
}

/** Applications for which a permission is granted. */
export type Grant = 'all' | SomeApps;

const NO_APPS: SomeApps = { ids: new Set(), patterns: [] };

interface Granted {
  readonly permissions: ReadonlyMap<string, Grant>;
}

/** The applications for which a caller has a permission; null for all. */
export function appsOf({ permissions }: Granted, permission: string): SomeApps | null {
  const grant = permissions.get(permission) ?? NO_APPS;
  return grant === 'all' ? null : grant;
}

/** Whether a caller has a permission for an application. */
export function mayFor({ permissions }: Granted, permission: string, appId: string): boolean {
  const grant = permissions.get(permission);
  return grant !== undefined && covers(grant, appId);
}

/** Whether a caller lacks a permission for some applications, so that it must be asked which one a thing belongs to. */
export function isLimited({ permissions }: Granted, permission: string): boolean {
  return permissions.get(permission) !== 'all';
}

/** Whether an application is one of those for which a permission is granted. */
export function covers(grant: Grant, appId: string): boolean {
  return grant === 'all' || grant.ids.has(appId) || grant.patterns.some((pattern) => meets(appId, pattern));
}

/** All that some grants grant together; undefined when this is nothing. */
export function together(grants: readonly Grant[]): Grant | undefined {
  if (grants.includes('all')) {
    return 'all';
  }
  const some = grants.filter((grant) => grant !== 'all');
  const ids = new Set(some.flatMap((grant) => [...grant.ids]));
  const patterns = [...new Set(some.flatMap((grant) => grant.patterns))];
  return ids.size + patterns.length === 0 ? undefined : { ids, patterns };
}

/** The parts of a pattern between its `*` are looked for one after the other, so the time grows with the texts only. */
function meets(text: string, pattern: string): boolean {
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
