import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { KnownVersionsService } from '../../apps/known-versions.service.js';
import { BuildReadsService } from '../../builds/build-reads.service.js';
import { WorkflowNodesService } from '../../builds/workflow-nodes.service.js';
import type { WorkflowNode } from '../../packages/package.types.js';
import { ToolUsesService, type UsedSystem } from '../../tools/tool-uses.service.js';
import type { ToolUse } from '../../tools/tool.types.js';
import { DraftResolutionService } from './draft-resolution.service.js';
import type { NodeObstacle, NodePreflight } from './preflight.types.js';
import { ResolvedSystemState, ResolvedToolState, type ResolvedSystem } from './resolution.types.js';
import { SystemResolutionService } from './system-resolution.service.js';

/** Builds that are looked into when a tool is switched, of each kind. */
const BUILDS = 20;
/** Nodes that are told when a tool is switched. */
const USES = 100;

const UNTESTED: ReadonlySet<ResolvedSystemState> = new Set([
  ResolvedSystemState.NeverTested,
  ResolvedSystemState.ToolsNotInBuild,
]);

type Node = Pick<WorkflowNode, 'id' | 'type' | 'name' | 'aiOptions'>;
type Workflow = { name: string; file: string; nodes: readonly Node[] };
type Resolve = (references: readonly Reference[]) => Promise<readonly ResolvedSystem[]>;
type Reference = NonNullable<Node['aiOptions']>['mcpServers'][number];

/**
 * Says of agent nodes, before they run, which systems and tools they have and why not the others, and tells whoever switches a tool which nodes it matters to.
 */
@Injectable()
export class PreflightService implements OnModuleInit {
  constructor(
    private readonly resolution: SystemResolutionService,
    private readonly drafts: DraftResolutionService,
    private readonly builds: BuildReadsService,
    private readonly nodes: WorkflowNodesService,
    private readonly uses: ToolUsesService,
    private readonly versions: KnownVersionsService,
  ) {}

  onModuleInit(): void {
    this.uses.register((system) => this.usesOf(system));
  }

  /**
   * The agent nodes of a version, as if a build were made now.
   * @throws VersionNotFoundError when nothing is stored for it
   */
  async ofVersion(version: AppVersionKey): Promise<NodePreflight[]> {
    await this.versions.require(version);
    const workflows = await this.nodes.list(version);
    const { maxTools } = this.resolution;
    return preflight(workflows, maxTools, (references) => this.drafts.resolve(version, references));
  }

  /**
   * The agent nodes of a build, without those of its libraries.
   * @throws BuildNotFoundError when the application has no such build
   */
  async ofBuild(appId: string, buildId: string): Promise<NodePreflight[]> {
    const workflows = await this.builds.workflows(appId, buildId);
    const { maxTools } = this.resolution;
    return preflight(workflows, maxTools, (references) => this.resolution.resolve(buildId, references));
  }

  private async usesOf(system: UsedSystem): Promise<ToolUse[]> {
    const { appId, appVersionId } = system;
    const version = { appId, appVersionId };
    const found = usesIn(await this.nodes.list(version), system, { ...version, buildId: null });
    for (const build of await this.builds.using(version, BUILDS)) {
      if (found.length >= USES) {
        break;
      }
      const workflows = await this.builds.workflows(build.appId, build.buildId);
      const place = { appId: build.appId, appVersionId: build.appVersionId, buildId: build.buildId };
      found.push(...usesIn(workflows, system, place));
    }
    return found.slice(0, USES);
  }
}

async function preflight(
  workflows: readonly Workflow[],
  maxTools: number,
  resolve: Resolve,
): Promise<NodePreflight[]> {
  const found: NodePreflight[] = [];
  for (const { workflow, node } of agentsOf(workflows)) {
    const systems = await resolve(node.aiOptions?.mcpServers ?? []);
    const obstacle = obstacleOf(systems, maxTools);
    const { name, file } = workflow;
    found.push({ workflow: name, file, nodeId: node.id, nodeName: node.name, obstacle, systems });
  }
  return found;
}

/** As a run decides it (see requireTools); and a system that nobody has tested is a tool less than its author counts on. */
function obstacleOf(systems: readonly ResolvedSystem[], maxTools: number): NodeObstacle | null {
  const tools = systems.flatMap((system) => system.tools);
  const { length } = tools.filter(({ state }) => state === ResolvedToolState.Ready);
  if (length === 0) {
    const message = 'The agent has no tool that is ready: a run of the node fails.';
    return { code: 'AGENT_WITHOUT_TOOLS', message };
  }
  const message = `The agent has ${length} tools that are ready, AGENT_MAX_TOOLS is ${maxTools}: a run of the node fails.`;
  return length > maxTools ? { code: 'AGENT_TOO_MANY_TOOLS', message } : untestedOf(systems);
}

function untestedOf(systems: readonly ResolvedSystem[]): NodeObstacle | null {
  const code = 'AGENT_SYSTEM_UNTESTED';
  const untested = systems.find(({ state }) => UNTESTED.has(state));
  if (untested === undefined) {
    return null;
  }
  const { state, resourceName } = untested;
  const message =
    state === ResolvedSystemState.NeverTested
      ? `The connection of the system "${resourceName}" was never tested: the agent has none of its tools.`
      : `The build has none of the tools of the system "${resourceName}": make another build.`;
  return { code, message };
}

function usesIn(
  workflows: readonly Workflow[],
  { appId, resourceDefinitionId }: UsedSystem,
  place: Pick<ToolUse, 'appId' | 'appVersionId' | 'buildId'>,
): ToolUse[] {
  return agentsOf(workflows)
    .filter(({ node }) =>
      node.aiOptions?.mcpServers.some(
        (server) =>
          (server.appId ?? place.appId) === appId && server.resourceDefinitionId === resourceDefinitionId,
      ),
    )
    .map(({ workflow, node }) => ({
      ...place,
      workflow: workflow.name,
      nodeId: node.id,
      nodeName: node.name,
    }));
}

function agentsOf(workflows: readonly Workflow[]): { workflow: Workflow; node: Node }[] {
  return workflows.flatMap((workflow) =>
    workflow.nodes.filter(({ type }) => type === 'CUSTOM_AGENT').map((node) => ({ workflow, node })),
  );
}
