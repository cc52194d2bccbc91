/** An entry of `mcpServers` (docs/contract.md, section 5); where no definition id is known, a name. */
export interface McpServerReference {
  /** Null or absent for the application that the workflow belongs to. */
  readonly appId?: string | null | undefined;
  readonly resourceDefinitionId?: string | null | undefined;
  readonly resourceName?: string | null | undefined;
}

/** Whether an agent can use a system at all. */
export enum ResolvedSystemState {
  Ready = 'READY',
  /** There is no MCP system of this id in the application or in its libraries. */
  Missing = 'MISSING',
  /** Its connection was never tested, so its tools are not known. */
  NeverTested = 'NEVER_TESTED',
  /** It has tools, but had none when the build was made: it was tested later. Only another build can offer them. */
  ToolsNotInBuild = 'TOOLS_NOT_IN_BUILD',
}

/** Whether an agent may call a tool, and why not. Where there are several reasons, the first of this order that holds. */
export enum ResolvedToolState {
  Ready = 'READY',
  Gone = 'GONE',
  /** The server describes it differently than when it was reviewed (not with TOOL_CHANGE_POLICY=accept). */
  Changed = 'CHANGED',
  /** It was disabled when the build was made; only another build can offer it. */
  DisabledInBuild = 'DISABLED_IN_BUILD',
  Disabled = 'DISABLED',
}

/** A tool of a resolved system. The definition is the stored, reviewed one, never what a server says now. */
export interface ResolvedTool {
  readonly toolId: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Record<string, unknown>;
  readonly annotations: Record<string, unknown> | null;
  readonly definitionHash: string;
  readonly state: ResolvedToolState;
  /** Its flag of this moment, whatever else holds; false for one that is gone. */
  readonly isEnabledNow: boolean;
}

/** What an entry of `mcpServers` leads to. Names of a missing system come from the reference, and are empty where it gives none. */
export interface ResolvedSystem {
  readonly appId: string;
  readonly resourceDefinitionId: string;
  readonly resourceName: string;
  readonly state: ResolvedSystemState;
  /** The row that holds its credentials; null for a missing system. */
  readonly systemId: string | null;
  /** In the order of the server's list; none when it was never tested, or not before the build was made. */
  readonly tools: readonly ResolvedTool[];
}

/** Names a system for people. */
export function nameOf(system: Pick<ResolvedSystem, 'resourceName' | 'resourceDefinitionId'>): string {
  return system.resourceName === '' ? system.resourceDefinitionId : system.resourceName;
}

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
