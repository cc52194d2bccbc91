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

/** What a worker does with the JSON of a package, and what comes of it. */
export interface PackageWork {
  /** Reads a package, so that what it is checked against can be looked up. */
  read: { task: { json: PackageJson; appId: string }; result: ReadPackage };
  /** Makes another package of a stored one: its JSON. */
  edit: { task: EditTask; result: Uint8Array };
  /** Checks a package whose shape is right. */
  check: { task: CheckTask; result: CheckResult };
  /** Gives the nodes of a process graph their numbers: its JSON as a column holds it. */
  number: { task: NumberTask; result: Uint8Array };
}

export type PackageTask = {
  [Name in keyof PackageWork]: { task: Name } & PackageWork[Name]['task'];
}[keyof PackageWork];

export interface EditTask {
  /** The stored document, packed by packText(): the characters. */
  packed: Uint8Array;
  edit: NodeEdit;
}

export interface CheckTask {
  json: PackageJson;
  context: CheckContext;
  /** The version, for what a build of it holds. */
  build: AppVersionKey | null;
  /** For the workflows as a draft holds them. */
  draft: DraftChange | null;
}

export interface NumberTask {
  /** JSON of the graph, see JudgedGraph. */
  json: Uint8Array;
  /** In the order of its nodes. */
  numbers: Float64Array;
}

/** UTF-8 bytes of unknown origin, or text that we wrote. */
export type PackageJson = Uint8Array | string;

/** What a package names. */
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
export interface JudgedProcessFile {
  file: string;
  /** As a column holds it, see storedBytes(). */
  bpmn: Uint8Array;
  graphs: JudgedGraph[];
}

/** A process graph whose nodes have no numbers yet. */
export interface JudgedGraph extends Pick<ProcessGraph, 'name' | 'svcUuid'> {
  /** JSON of NamedNode[]. */
  nodes: Uint8Array;
  /** Its JSON. */
  json: Uint8Array;
}

/** A node of a process graph. */
export type NamedNode = Pick<GraphNode, 'svcUuid' | 'key'>;

/** A workflow as a build holds it: its references have definition ids. */
export interface JudgedWorkflow {
  name: string;
  resourceId: string;
  resourceDefinitionId: string;
  /** Its JSON as a column holds it, see storedBytes(). */
  definition: Uint8Array;
}

/** A package in which nothing is wrong, ready to be stored. What can be large is bytes, which move from thread to thread. */
export interface JudgedPackage extends Pick<CheckedPackage, 'application' | 'systems'> {
  /** Processes in all files. */
  processCount: number;
  workflowCount: number;
  /** Empty unless for a build. */
  processes: JudgedProcessFile[];
  /** Empty unless for a build. */
  workflows: JudgedWorkflow[];
  /** JSON of DraftWorkflow[], packed by packText(), as a column holds it; null unless it was asked for. */
  drafts: Uint8Array | null;
  /** SHA-256 of the canonical JSON (RFC 8785) of the document. */
  checksum: string;
  /** The document's JSON, packed by packText(), as a column holds it. */
  packed: Uint8Array;
}

/** The package is null when there is an error among the problems. */
export interface CheckResult {
  judged: JudgedPackage | null;
  problems: PackageProblem[];
}

/** Null when there was no making it; then there are problems. */
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
