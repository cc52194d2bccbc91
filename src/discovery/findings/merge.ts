import { byRef, type Component, type ComponentSourceName, refId } from '../model/component.types.js';
import type { ScanIssue } from '../model/scan.types.js';

/** What a source named, each key of a map once. */
export interface Listed {
  source: ComponentSourceName;
  components: readonly Component[];
}

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
    for (const component of components) {
      const { map, key, trust } = component;
      if (trust === 'registered' && merged.get(refId(component))?.trust === 'operator') {
        issues.push({ code: 'duplicate', source, component: { map, key } });
      } else {
        merged.set(refId(component), component);
      }
    }
  }
  const all = [...merged.values()];
  if (all.length > max) {
    issues.push({ code: 'too_many', left: all.length - max, max });
  }
  return { components: all.slice(0, max).toSorted(byRef), issues };
}
