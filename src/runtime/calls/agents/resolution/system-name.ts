import type { ResolvedSystem } from './resolution.types.js';

/** Returns the display name of a system. */
export function displayNameOf({
  resourceName,
  resourceDefinitionId,
}: Pick<ResolvedSystem, 'resourceName' | 'resourceDefinitionId'>): string {
  return resourceName === '' ? resourceDefinitionId : resourceName;
}
