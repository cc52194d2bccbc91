import type { ResolvedSystem } from './resolution.types.js';

/** Why an agent node cannot run with the tools that it has, or not with those that its author counts on. */
export interface NodeObstacle {
  code: 'AGENT_WITHOUT_TOOLS' | 'AGENT_TOO_MANY_TOOLS' | 'AGENT_SYSTEM_UNTESTED';
  /** For a person. */
  message: string;
}

/** The owner of an agent node: the version that is looked at, a build of it, or a build of one of its libraries. */
export interface NodeOwner {
  appId: string;
  appVersionId: string;
  /** Null for a version. */
  buildId: string | null;
  isLibrary: boolean;
}

/** An agent node and what it may use. */
export interface NodePreflight extends NodeOwner {
  workflow: string;
  /** File of the package that the workflow comes from. */
  file: string;
  nodeId: string;
  nodeName: string;
  /** Why a run of the node fails at once with every input, or lacks a system that nobody has tested; null when neither. */
  obstacle: NodeObstacle | null;
  systems: readonly ResolvedSystem[];
}
