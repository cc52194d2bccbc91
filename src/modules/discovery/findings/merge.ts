import { byRef, type Component, type ComponentSourceName, refId } from '../model/component.types.js';
import type { ScanIssue } from '../model/scan.types.js';

/** What a source named. */
export interface Listed {
  source: ComponentSourceName;
  components: readonly Component[];
}

const KEY = /^[A-Za-z0-9_-]{1,64}$/;
/** User information before the path, with or without a scheme, a query or a fragment. */
const SECRET = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/]*@|[?#]/i;

/**
 * Makes one list of what the sources named. A later source wins on a key of one map. But a registration by a caller of the API
 * never replaces an entry of the operator. Everything that is left out is an issue.
 * @param max components of one scan; those of later sources are left out first
 * @returns components sorted by map, then key
 */
export function mergeListings(
  listings: readonly Listed[],
  max: number,
): { components: Component[]; issues: ScanIssue[] } {
  const merged = new Map<string, Component>();
  const issues: ScanIssue[] = [];
  for (const { source, components } of listings) {
    const own = new Set<string>();
    for (const component of components) {
      const reason = faultOf(component);
      const id = refId(component);
      const isUsurper = component.trust === 'registered' && merged.get(id)?.trust === 'operator';
      if (reason !== undefined) {
        issues.push({ code: 'rejected', source, key: component.key, reason });
      } else if (own.has(id) || isUsurper) {
        issues.push({ code: 'duplicate', source, component: { map: component.map, key: component.key } });
      } else {
        own.add(id);
        merged.set(id, component);
      }
    }
  }
  const all = [...merged.values()];
  if (all.length > max) {
    issues.push({ code: 'too_many', left: all.length - max, max });
  }
  return { components: all.slice(0, max).toSorted(byRef), issues };
}

/** Why a component cannot be taken as its source describes it; sources are to see to it, so this is the last door. */
function faultOf({ key, endpoint }: Component): string | undefined {
  if (!KEY.test(key) || key === '__proto__') {
    return 'the key is not 1 to 64 letters, digits, "_" or "-"';
  }
  return endpoint.split(',').some((address) => SECRET.test(address))
    ? 'the endpoint holds user information, a query or a fragment'
    : undefined;
}
