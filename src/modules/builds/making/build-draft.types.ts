import type { PackageSettings } from '../../packages/model/package.types.js';
import type { BuildLibrary, NamedLibrary } from '../model/builds.types.js';
import type { BuildDefinitionEntity } from '../storage/build-definition.entity.js';
import type { BuildWorkflowEntity } from '../storage/build-workflow.entity.js';

/** What a build takes from the package of its version. */
export interface BuildDraft {
  packageChecksum: string;
  settings: PackageSettings;
  definitions: Omit<BuildDefinitionEntity, 'id' | 'buildId'>[];
  workflows: Omit<BuildWorkflowEntity, 'buildId'>[];
  libraries: BuildLibrary[];
  /** Those that the package names itself. */
  named: NamedLibrary[];
  /** Applications that may use the build as a library; null where the package says nothing of it. */
  usableBy: string[] | null;
  /** Those of them that may use its systems in nodes of their own; null: all. */
  systemsUsableBy: string[] | null;
}
