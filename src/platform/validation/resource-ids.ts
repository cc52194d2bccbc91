import { v5 as uuid } from 'uuid';
import { nameKey } from './resource-name.js';

/** Namespace of these ids (RFC 9562, section 5.5), generated once. */
const NAMESPACE = '6c1f5a52-53f0-4c0e-9d5b-6f2b7f1c2a7e';

/**
 * Returns the definition id of a workflow: the same for its name, regardless of case, in all versions of the
 * application.
 */
export function workflowDefinitionId(appId: string, name: string): string {
  return uuid(`workflow ${appId} ${nameKey(name)}`, NAMESPACE);
}

/**
 * Returns the resource id of a process or workflow: the same in all builds of one version of the application, and in no
 * other.
 */
export function resourceId(
  { appId, appVersionId }: { appId: string; appVersionId: string },
  definitionId: string,
): string {
  return uuid(`resource ${appId} ${appVersionId} ${definitionId}`, NAMESPACE);
}
