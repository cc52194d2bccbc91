import type { ResolvedSystem } from './resolution.types.js';

/** Why an agent node cannot run with the tools that it has. */
export interface NodeObstacle {
  code: 'AGENT_WITHOUT_TOOLS' | 'AGENT_TOO_MANY_TOOLS';
  /** For a person. */
  message: string;
}

/** An agent node and what it may use. */
export interface NodePreflight {
  workflow: string;
  /** File of the package that the workflow comes from. */
  file: string;
  nodeId: string;
  nodeName: string;
  /** Why a run of it fails at once, whatever its input; null when it does not. */
  obstacle: NodeObstacle | null;
  systems: readonly ResolvedSystem[];
}
