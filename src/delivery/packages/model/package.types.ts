import type { z } from 'zod';
import type { DefinitionProblem, ProcessGraph } from '#engine/definitions';
import type { SystemType } from '../../../systems/model/system.types.js';
import type { applicationSchema, librarySchema, settingsSchema } from '../schema/application.schema.js';
import type { processFileSchema } from '../schema/package.schema.js';
import type { systemSchema } from '../schema/system.schema.js';
import type { referenceSchema, workflowNodeSchema, workflowSchema } from '../schema/workflow.schema.js';

/** A problem of a package. `file` is a file of its folder form, `element` an id or a JSON pointer in that file. */
export interface PackageProblem extends DefinitionProblem {
  /** Name that a modeler shows for the element; absent without one. */
  elementName?: string;
  /** Line of the element in a BPMN file, starting at 1; absent elsewhere. */
  line?: number;
}

/** Settings of an application that front ends read. */
export type PackageSettings = z.output<typeof settingsSchema>;
/** One build of another application that the package uses. */
export type LibraryReference = z.output<typeof librarySchema>;
/** Contents of application.json. */
export type PackageApplication = Omit<z.output<typeof applicationSchema>, '$schema'>;

/** A system of any type, without secrets (docs/packages.md, "Secrets"). */
export type PackageSystem = z.output<typeof systemSchema> & { file: string };

/** A reference to a system or workflow by definition id or name; without `appId`, in the package itself. */
export type ResourceReference = z.output<typeof referenceSchema>;
/** A node of a workflow in the contract's shape. */
export type WorkflowNode = z.output<typeof workflowNodeSchema>;
export type PackageWorkflow = Omit<z.output<typeof workflowSchema>, '$schema' | 'file'> & { file: string };

/** A BPMN file as it was delivered. */
export type PackageProcessFile = z.output<typeof processFileSchema>;

/** A package with the right shape, whose contents are not checked yet. */
export interface ApplicationPackage {
  application: PackageApplication;
  systems: PackageSystem[];
  workflows: PackageWorkflow[];
  processes: PackageProcessFile[];
}

/** Names of invalid entries of a list; null if unknown. */
export type UnreadNames = readonly string[] | null;

/** Parts of a package that could not be read. References to them are not reported as errors. */
export type UnreadParts = Readonly<Record<'systems' | 'workflows' | 'processes', UnreadNames>>;

/** The valid parts of a package, and the names of the others. */
export interface ReadableParts extends Pick<ApplicationPackage, 'systems' | 'workflows' | 'processes'> {
  unread: UnreadParts;
}

/** A BPMN file and the processes in it. */
export interface CheckedProcessFile extends PackageProcessFile {
  graphs: ProcessGraph[];
}

/**
 * A package without errors. Every reference of a workflow has `appId`, and a name or a definition id. References to libraries have both.
 * References within the package have the name; their definition ids are added when it is stored (`withDefinitionIds`).
 */
export interface CheckedPackage {
  application: PackageApplication;
  systems: PackageSystem[];
  workflows: PackageWorkflow[];
  processes: CheckedProcessFile[];
}

/** The parts of a library build that can be referenced. */
export interface LibraryBuild {
  appId: string;
  buildId: string;
  processes: readonly Pick<ProcessGraph, 'name' | 'starts' | 'nodes'>[];
  workflows: readonly { name: string; resourceDefinitionId: string }[];
  systems: readonly { resourceName: string; resourceDefinitionId: string; type: SystemType }[];
}

/** Definition ids that the application assigned to names in earlier versions; keys are names in lower case. */
export interface DefinitionIds {
  systems: ReadonlyMap<string, string>;
  workflows: ReadonlyMap<string, string>;
}

/** Everything that a package is checked against. */
export interface CheckContext {
  /** Application in the path of the request. */
  appId: string;
  /** The existing builds among the direct libraries of the package. */
  libraries: readonly LibraryBuild[];
  /** MCP systems that were registered in the version without a package, which workflows can use too. */
  registered?: readonly { resourceName: string; resourceDefinitionId: string }[];
  /** Definition ids of the application; without them workflows can refer to its own systems only by name. */
  definitionIds?: DefinitionIds;
}
