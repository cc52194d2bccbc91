import type { WorkerJob } from '../../../common/threads/worker-job.js';
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
export type PackageTask = ReadTask | CheckTask;

/** Reads a package, so that what it is checked against can be looked up. */
export interface ReadTask {
  task: 'read';
  json: PackageJson;
  appId: string;
}

/** Checks a package whose shape is right. */
export interface CheckTask {
  task: 'check';
  json: PackageJson;
  context: CheckContext;
  /** Whether the compiled processes are part of the answer. */
  withProcesses: boolean;
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

/** A BPMN file and the JSON of each of its process graphs. */
export interface JudgedProcessFile {
  file: string;
  bpmn: string;
  graphs: string[];
}

/** A package in which nothing is wrong, ready to be stored. */
export interface JudgedPackage extends Omit<CheckedPackage, 'processes'> {
  /** Processes in all files. */
  processCount: number;
  /** Empty when they were not asked for. */
  processes: JudgedProcessFile[];
  /** SHA-256 of the canonical JSON (RFC 8785) of the document. */
  checksum: string;
  /** The document's JSON, compressed (RFC 1952) as base64. */
  packed: string;
}

/** The package is null when there is an error among the problems. */
export interface CheckResult {
  judged: JudgedPackage | null;
  problems: PackageProblem[];
}

/** Asks the worker. */
export type PackageJob = WorkerJob<PackageTask>;

/** What a task came to: its result, why the text is no JSON object, or a fault of ours. */
export type PackageTaskAnswer =
  { read: ReadPackage } | { checked: CheckResult } | { refused: string } | { fault: string };

/** The worker's answer. */
export type PackageWorkerAnswer = { id: number } & PackageTaskAnswer;
