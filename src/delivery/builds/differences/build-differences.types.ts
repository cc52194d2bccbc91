/** Kinds of parts that can differ between builds (docs/contract.md, section 6.2). */
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

export enum DifferenceChange {
  Added = 'ADDED',
  Removed = 'REMOVED',
  Changed = 'CHANGED',
}

/** A part of a build in the form in which builds are compared. */
export interface ComparedPart {
  readonly part: DifferencePart;
  /** The application that it belongs to: that of the build or of a library. */
  readonly appId: string;
  /** The workflow of an agent, the system of a tool, or the process of a permission; null for other parts. */
  readonly within: string | null;
  readonly name: string;
  /** Identifies it among parts of its kind in its application, across builds. */
  readonly key: string;
  /** Hash of each member, by name. */
  readonly members: ReadonlyMap<string, string>;
  /** The enabled flag of a tool; null for other parts. */
  readonly enabled: boolean | null;
}
