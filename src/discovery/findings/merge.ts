import { byRef, type Component, type ComponentSourceName, refId } from '../model/component.types.js';
import type { ScanIssue } from '../model/scan.types.js';

/** The components that a source listed, each key of a map once. */
export interface Listed {
  source: ComponentSourceName;
  components: readonly Component[];
}

/**
 * Merges the lists of the sources. A later source wins on a key of a map, but a registration by a caller of the API never replaces an entry
 * of the operator. Every dropped component is reported as an issue.
 * @param max maximum number of components per scan; those of later sources are dropped first
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
