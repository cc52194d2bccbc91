import type { PackageSettings } from '../../packages/model/package.types.js';
import type { BuildLibrary, NamedLibrary } from '../model/builds.types.js';
import type { NewDefinition, NewWorkflow } from '../storage/build-contents.repository.js';

/** What a build takes from the package of its version. */
export interface BuildDraft {
  packageChecksum: string;
  settings: PackageSettings;
  definitions: Omit<NewDefinition, 'id' | 'buildId'>[];
  workflows: Omit<NewWorkflow, 'buildId'>[];
  libraries: BuildLibrary[];
  /** Those that the package names itself. */
  named: NamedLibrary[];
  /** Applications that may use the build as a library; null where the package says nothing of it. */
  usableBy: string[] | null;
  /** Those of them that may use its systems in nodes of their own; null: all. */
  systemsUsableBy: string[] | null;
}
