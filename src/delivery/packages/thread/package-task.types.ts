import type { AppVersionKey } from '../../../apps/apps.types.js';
import type { GraphNode, ProcessGraph } from '#engine/definitions';
import type { DraftChange } from '../drafts/draft-workflows.js';
import type { NodeEdit } from '../drafts/node-edit.js';
import type {
  CheckContext,
  CheckedPackage,
  LibraryReference,
  PackageProblem,
} from '../model/package.types.js';

/** Tasks of the worker thread for packages, and their results. */
export interface PackageWork {
  /** Reads a package, so that everything that it is checked against can be looked up. */
  read: { task: { json: PackageJson; appId: string }; result: ReadPackage };
  /** Edits a stored package, and returns the JSON of the new one. */
  edit: { task: EditTask; result: Uint8Array };
  /** Checks a package whose shape is right. */
  check: { task: CheckTask; result: CheckResult };
  /** Adds ids to the nodes of a process graph, and returns its JSON in the stored form. */
  number: { task: NumberTask; result: Uint8Array };
}

export type PackageTask = {
  [Name in keyof PackageWork]: { task: Name } & PackageWork[Name]['task'];
}[keyof PackageWork];

export interface EditTask {
  /** Characters of the stored document, packed by packText(). */
  packed: Uint8Array;
  edit: NodeEdit;
}

export interface CheckTask {
  json: PackageJson;
  context: CheckContext;
  /** The version, to prepare the contents of a build; null otherwise. */
  build: AppVersionKey | null;
  /** Prepares the workflows of a draft, unless null. */
  draft: DraftChange | null;
}

export interface NumberTask {
  /** JSON of the graph, see StorableGraph. */
  json: Uint8Array;
  /** Ids in the order of its nodes. */
  numbers: Float64Array;
}

/** Untrusted UTF-8 bytes, or text written by the service. */
export type PackageJson = Uint8Array | string;

/** Names in a package. */
export interface PackageOutline {
  libraries: LibraryReference[];
  systems: { resourceName: string }[];
  workflows: { name: string }[];
}

/** The outline is null when the shape of the package is wrong. */
export interface ReadPackage {
  outline: PackageOutline | null;
  problems: PackageProblem[];
}

/** A BPMN file and its process graphs. */
export interface StorableProcessFile {
  file: string;
  /** The text in the stored form, see storedBytes(). */
  bpmn: Uint8Array;
  graphs: StorableGraph[];
}

/** A process graph whose nodes have no ids yet. */
export interface StorableGraph extends Pick<ProcessGraph, 'name' | 'svcUuid'> {
  /** JSON of NamedNode[]. */
  nodes: Uint8Array;
  json: Uint8Array;
}

/** A node of a process graph. */
export type NamedNode = Pick<GraphNode, 'svcUuid' | 'key'>;

/** A workflow as stored in a build: its references have definition ids. */
export interface StorableWorkflow {
  name: string;
  resourceId: string;
  resourceDefinitionId: string;
  /** Its JSON in the stored form, see storedBytes(). */
  definition: Uint8Array;
}

/** A package without errors, ready to be stored. Large parts are bytes, which are transferred between threads. */
export interface StorablePackage extends Pick<CheckedPackage, 'application' | 'systems'> {
  /** Number of processes in all files. */
  processCount: number;
  workflowCount: number;
  /** Empty unless for a build. */
  processes: StorableProcessFile[];
  /** Empty unless for a build. */
  workflows: StorableWorkflow[];
  /** JSON of DraftWorkflow[], packed by packText(), in the stored form; null unless requested. */
  drafts: Uint8Array | null;
  /** SHA-256 of the canonical JSON (RFC 8785) of the document. */
  checksum: string;
  /** JSON of the document, packed by packText(), in the stored form. */
  packed: Uint8Array;
}

/** Result of a check; `storable` is null when there are errors. */
export interface CheckResult {
  storable: StorablePackage | null;
  problems: PackageProblem[];
}

/** Result of an edit; `json` is null when it failed, with problems. */
export interface EditedPackage {
  json: Uint8Array | null;
  problems: PackageProblem[];
}

/** Outcome of a task: its result, why the text is not a JSON object, an edit of an unknown sequence, or the log fields of an unexpected error. */
export type PackageTaskAnswer =
  | { result: PackageWork[keyof PackageWork]['result'] }
  | { refused: string }
  | { noSequence: true }
  | { fault: Record<string, string | undefined> };

/** The worker's answer. */
export type PackageWorkerAnswer = { id: number } & PackageTaskAnswer;
