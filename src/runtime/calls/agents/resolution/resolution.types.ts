/** Entry of `mcpServers` (docs/contract.md, section 5), with a definition id or a name. */
export interface McpServerReference {
  /** Null or absent for the application of the workflow. */
  readonly appId?: string | null | undefined;
  readonly resourceDefinitionId?: string | null | undefined;
  readonly resourceName?: string | null | undefined;
}

/** Whether an agent can use a system. */
export enum ResolvedSystemState {
  Ready = 'READY',
  /** The application and its libraries have no MCP system with this id. */
  Missing = 'MISSING',
  /** The connection was never tested, so the tools are unknown. */
  NeverTested = 'NEVER_TESTED',
  /** The system was first tested after the build was made. Only a new build can offer its tools. */
  ToolsNotInBuild = 'TOOLS_NOT_IN_BUILD',
}

/** Whether an agent may call a tool, or the first reason in this order why not. */
export enum ResolvedToolState {
  Ready = 'READY',
  Gone = 'GONE',
  /** The server has changed its definition since the review (not with TOOL_CHANGE_POLICY=accept). */
  Changed = 'CHANGED',
  /** It was disabled when the build was made; only a new build can offer it. */
  DisabledInBuild = 'DISABLED_IN_BUILD',
  Disabled = 'DISABLED',
}

/** Tool of a resolved system, with the stored, reviewed definition and never the server's current one. */
export interface ResolvedTool {
  readonly toolId: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Record<string, unknown>;
  readonly annotations: Record<string, unknown> | null;
  readonly definitionHash: string;
  readonly state: ResolvedToolState;
  /** Current flag, regardless of `state`; false if the tool is gone. */
  readonly isEnabledNow: boolean;
}

/** Resolved entry of `mcpServers`. Names of a missing system come from the reference and may be empty. */
export interface ResolvedSystem {
  readonly appId: string;
  readonly resourceDefinitionId: string;
  readonly resourceName: string;
  readonly state: ResolvedSystemState;
  /** Id of the row with its credentials; null for a missing system. */
  readonly systemId: string | null;
  /** In the order of the server's list; empty if it was not tested before the build was made. */
  readonly tools: readonly ResolvedTool[];
}

/** Why an agent node cannot run, or lacks tools that its author expects. */
export interface NodeObstacle {
  code: 'AGENT_WITHOUT_TOOLS' | 'AGENT_TOO_MANY_TOOLS' | 'AGENT_SYSTEM_UNTESTED';
  /** Human-readable description. */
  message: string;
}

/** Owner of an agent node: the checked version, its build, or a build of a library. */
export interface NodeOwner {
  appId: string;
  appVersionId: string;
  /** Null for a version. */
  buildId: string | null;
  isLibrary: boolean;
}

/** Agent node with its systems and tools. */
export interface NodePreflight extends NodeOwner {
  workflow: string;
  /** File of the package that the workflow comes from. */
  file: string;
  nodeId: string;
  nodeName: string;
  /** What prevents or weakens runs; null if nothing. */
  obstacle: NodeObstacle | null;
  systems: readonly ResolvedSystem[];
}
