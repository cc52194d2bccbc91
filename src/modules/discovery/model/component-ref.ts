import type { ComponentRef } from './scan.types.js';

/** Identifies a component: keys are unique in their map only. */
export function refId({ map, key }: ComponentRef): string {
  return `${map}.${key}`;
}

/** Sorts by map, then key, by code units: equal in every locale. */
export function byRef(one: ComponentRef, other: ComponentRef): number {
  return refId(one) < refId(other) ? -1 : 1;
}
