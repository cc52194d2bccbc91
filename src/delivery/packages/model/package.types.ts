import type { z } from 'zod';
import type { DefinitionProblem, ProcessGraph } from '#engine/definitions';
import type { SystemType } from '../../../systems/model/system.types.js';
import type { applicationSchema, librarySchema, settingsSchema } from '../schema/application.schema.js';
import type { processFileSchema } from '../schema/package.schema.js';
import type { systemSchema } from '../schema/system.schema.js';
import type { referenceSchema, workflowNodeSchema, workflowSchema } from '../schema/workflow.schema.js';

/** Something wrong in a package. `file` is a file of its folder form, `element` an id or a JSON pointer in that file. */
export interface PackageProblem extends DefinitionProblem {
  /** What a modeler shows of the element; absent without a name. */
  elementName?: string;
  /** Line of the element in a BPMN file, the first one is 1; absent elsewhere. */
  line?: number;
}

/** Settings of an application that front ends read. */
export type PackageSettings = z.output<typeof settingsSchema>;
/** One build of another application that the package uses. */
export type LibraryReference = z.output<typeof librarySchema>;
/** What application.json says. */
export type PackageApplication = Omit<z.output<typeof applicationSchema>, '$schema'>;

/** A system of any type. A SERVICE_ACCOUNT has no secret here: see docs/packages.md, "Secrets". */
export type PackageSystem = z.output<typeof systemSchema> & { file: string };

/** A system or workflow by definition id or name; without `appId`, of the package itself. */
export type ResourceReference = z.output<typeof referenceSchema>;
/** A node of a workflow in the contract's shape. */
export type WorkflowNode = z.output<typeof workflowNodeSchema>;
/** A workflow. */
export type PackageWorkflow = Omit<z.output<typeof workflowSchema>, '$schema' | 'file'> & { file: string };

/** A BPMN file as it was delivered. */
export type PackageProcessFile = z.output<typeof processFileSchema>;

/** A package whose shape is right: all members are there. Whether it makes sense is not known yet. */
export interface ApplicationPackage {
  application: PackageApplication;
  systems: PackageSystem[];
  workflows: PackageWorkflow[];
  processes: PackageProcessFile[];
}

/** Names of entries of a list whose shape is wrong; null where their names are not known. */
export type UnreadNames = readonly string[] | null;

/** What of a package could not be read: references to it are not told as wrong. */
export type UnreadParts = Readonly<Record<'systems' | 'workflows' | 'processes', UnreadNames>>;

/** Those parts of a package that can be looked at, as far as their own shape is right, and what else it has. */
export interface ReadableParts extends Pick<ApplicationPackage, 'systems' | 'workflows' | 'processes'> {
  unread: UnreadParts;
}

/** A BPMN file and the processes in it. */
export interface CheckedProcessFile extends PackageProcessFile {
  graphs: ProcessGraph[];
}

/**
 * A package in which nothing is wrong. Every reference of a workflow carries `appId`, and a name or a definition id. References
 * to libraries have both. References within the package have the name, because storing it gives the definition ids
 * (`withDefinitionIds`).
 */
export interface CheckedPackage {
  application: PackageApplication;
  systems: PackageSystem[];
  workflows: PackageWorkflow[];
  processes: CheckedProcessFile[];
}

/** What a library build offers. */
export interface LibraryBuild {
  appId: string;
  buildId: string;
  processes: readonly Pick<ProcessGraph, 'name' | 'starts' | 'nodes'>[];
  workflows: readonly { name: string; resourceDefinitionId: string }[];
  systems: readonly { resourceName: string; resourceDefinitionId: string; type: SystemType }[];
}

/** Definition ids that the application gave to names in earlier versions; keys are names in lower case. */
export interface DefinitionIds {
  systems: ReadonlyMap<string, string>;
  workflows: ReadonlyMap<string, string>;
}

/** What a package is checked against. */
export interface CheckContext {
  /** Application of the path. */
  appId: string;
  /** Direct libraries that the package names, as far as they exist. */
  libraries: readonly LibraryBuild[];
  /** MCP systems that were registered in the version without a package: workflows can refer to them too. */
  registered?: readonly { resourceName: string; resourceDefinitionId: string }[];
  /** Definition ids of the application so far; without them a workflow can refer to its own systems by name only. */
  definitionIds?: DefinitionIds;
}
