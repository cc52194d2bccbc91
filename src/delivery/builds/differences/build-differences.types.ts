/** What can be other in another build (docs/contract.md, section 6.2). */
export enum DifferencePart {
  Process = 'PROCESS',
  Permission = 'PERMISSION',
  Workflow = 'WORKFLOW',
  Agent = 'AGENT',
  System = 'SYSTEM',
  Tool = 'TOOL',
  Library = 'LIBRARY',
  Settings = 'SETTINGS',
}

/** What became of it. */
export enum DifferenceChange {
  Added = 'ADDED',
  Removed = 'REMOVED',
  Changed = 'CHANGED',
}

/** One part of a build, as far as it is compared with that of another build. */
export interface ComparedPart {
  readonly part: DifferencePart;
  /** The application that brings it: that of the build, or that of a library. */
  readonly appId: string;
  /** The workflow of an agent, the system of a tool, the process of a permission; null for what stands by itself. */
  readonly within: string | null;
  readonly name: string;
  /** Tells it apart from others of its kind in its application, in all builds. */
  readonly key: string;
  /** A hash of each of its members, by name. */
  readonly members: ReadonlyMap<string, string>;
  /** The flag of a tool; null for everything else. */
  readonly enabled: boolean | null;
}
