import type { WorkerJob } from '../../../common/threads/serve-worker.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { GraphNode, ProcessGraph } from '../../process-definitions/model/process-graph.types.js';
import type { DraftChange } from '../drafts/draft-workflows.js';
import type { NodeEdit } from '../drafts/node-edit.js';
import type {
  CheckContext,
  CheckedPackage,
  LibraryReference,
  PackageProblem,
} from '../model/package.types.js';

/** Settings that reading and checking packages need, by name, as the environment would have them. */
export interface PackageWorkerSettings {
  readonly settings: Readonly<Record<string, string>>;
}

/** What a worker does with the JSON of a package. */
export type PackageTask = ReadTask | EditTask | CheckTask | NumberTask;

/** Reads a package, so that what it is checked against can be looked up. */
export interface ReadTask {
  task: 'read';
  json: PackageJson;
  appId: string;
}

/** Makes another package of a stored one. */
export interface EditTask {
  task: 'edit';
  /** Its document, packed by packText(): the characters. */
  packed: Uint8Array;
  edit: NodeEdit;
}

/** Checks a package whose shape is right. */
export interface CheckTask {
  task: 'check';
  json: PackageJson;
  context: CheckContext;
  /** The version, for what a build of it holds. */
  build: AppVersionKey | null;
  /** For the workflows as a draft holds them. */
  draft: DraftChange | null;
}

/** Gives the nodes of a process graph their numbers. */
export interface NumberTask {
  task: 'number';
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

/** Asks the worker. */
export type PackageJob = WorkerJob<PackageTask>;

/** What a task came to: its result, why the text is no JSON object, an edit of a sequence that is not there, or a fault of ours. */
export type PackageTaskAnswer =
  | { read: ReadPackage }
  | { edited: Uint8Array }
  | { checked: CheckResult }
  /** JSON of the graph as a column holds it. */
  | { numbered: Uint8Array }
  | { refused: string }
  | { noSequence: true }
  | { fault: string };

/** The worker's answer. */
export type PackageWorkerAnswer = { id: number } & PackageTaskAnswer;
