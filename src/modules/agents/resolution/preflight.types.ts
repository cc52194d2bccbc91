import type { ResolvedSystem } from './resolution.types.js';

/** An agent node and what it may use. */
export interface NodePreflight {
  workflow: string;
  /** File of the package that the workflow comes from. */
  file: string;
  nodeId: string;
  nodeName: string;
  /** Whether it has a tool that is ready. */
  isReady: boolean;
  systems: readonly ResolvedSystem[];
}
