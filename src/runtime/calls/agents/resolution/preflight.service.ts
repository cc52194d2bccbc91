import { Injectable } from '@nestjs/common';
import { yieldEventLoop } from '#engine/support';
import type { AppVersionKey } from '../../../../apps/apps.types.js';
import { AppsService } from '../../../../apps/apps.service.js';
import { AppPackagesService } from '../../../../delivery/builds/packages/app-packages.service.js';
import { BuildReadsService } from '../../../../delivery/builds/contents/build-reads.service.js';
import type { LibraryAgents } from '../../../../delivery/builds/model/builds.types.js';
import type { AgentNode, AgentWorkflow } from '../../../../delivery/builds/model/workflow-text.js';
import { WorkflowNodesService } from '../../../../delivery/builds/nodes/workflow-nodes.service.js';
import { DraftResolutionService, SystemResolutionService } from './system-resolution.service.js';
import {
  type NodeObstacle,
  type NodeOwner,
  type NodePreflight,
  ResolvedSystemState,
  ResolvedToolState,
  type ResolvedSystem,
} from './resolution.types.js';
import { agentLimits } from '../agent.limits.js';

const UNTESTED: ReadonlySet<ResolvedSystemState> = new Set([
  ResolvedSystemState.NeverTested,
  ResolvedSystemState.ToolsNotInBuild,
]);

type Resolve = (references: readonly Reference[]) => Promise<readonly ResolvedSystem[]>;
/** Resolved systems by reference. */
type Known = Map<string, readonly ResolvedSystem[]>;
type Reference = NonNullable<AgentNode['aiOptions']>['mcpServers'][number];

/** Checks before a run which systems and tools agent nodes can use, and why not the others. */
@Injectable()
export class PreflightService {
  constructor(
    private readonly resolution: SystemResolutionService,
    private readonly drafts: DraftResolutionService,
    private readonly builds: BuildReadsService,
    private readonly nodes: WorkflowNodesService,
    private readonly packages: AppPackagesService,
    private readonly apps: AppsService,
  ) {}

  /** Checks the nodes of a version and its libraries as in a build made now. @throws VersionNotFoundError */
  async ofVersion(version: AppVersionKey): Promise<NodePreflight[]> {
    await this.apps.requireKnown(version);
    const { appId, appVersionId } = version;
    const own = await this.preflight(
      { appId, appVersionId, buildId: null, isLibrary: false },
      await this.nodes.agents(version),
      (references) => this.drafts.resolve(version, references),
    );
    const named = (await this.packages.libraries(version)).map(({ buildId }) => buildId);
    return [...own, ...(await this.ofLibraries(await this.builds.libraryAgents(named, true)))];
  }

  /** Checks the nodes of a build and its libraries. @throws BuildNotFoundError */
  async ofBuild(appId: string, buildId: string): Promise<NodePreflight[]> {
    const { appVersionId } = await this.builds.summary(appId, buildId);
    const own = await this.preflight(
      { appId, appVersionId, buildId, isLibrary: false },
      await this.builds.agents(appId, buildId),
      (references) => this.resolution.resolve(buildId, references),
    );
    return [...own, ...(await this.ofLibraries(await this.builds.libraryAgents([buildId])))];
  }

  private async ofLibraries(libraries: readonly LibraryAgents[]): Promise<NodePreflight[]> {
    const found: NodePreflight[] = [];
    for (const { workflows, ...build } of libraries) {
      // Within one dependency tree, a library uses a single build of each of its own libraries.
      const resolve: Resolve = (references) => this.resolution.resolve(build.buildId, references);
      found.push(...(await this.preflight({ ...build, isLibrary: true }, workflows, resolve)));
    }
    return found;
  }

  private async preflight(
    owner: NodeOwner,
    workflows: readonly AgentWorkflow[],
    resolve: Resolve,
  ): Promise<NodePreflight[]> {
    const found: NodePreflight[] = [];
    const known: Known = new Map();
    const checked = new Map<string, Pick<NodePreflight, 'systems' | 'obstacle'>>();
    const nodes = workflows.flatMap((workflow) => workflow.nodes.map((node) => ({ workflow, node })));
    for (const { workflow, node } of nodes) {
      await yieldEventLoop();
      // A version may have thousands of agents and tools, so agents with the same references share one check.
      const references = JSON.stringify(node.aiOptions?.mcpServers ?? []);
      const same = checked.get(references) ?? check(await systemsOf(node, resolve, known), owner);
      checked.set(references, same);
      const { name, file } = workflow;
      found.push({ ...owner, ...same, workflow: name, file, nodeId: node.id, nodeName: node.name });
    }
    return found;
  }
}

function check(
  systems: readonly ResolvedSystem[],
  owner: NodeOwner,
): Pick<NodePreflight, 'systems' | 'obstacle'> {
  const obstacle = obstacleOf(systems);
  return { systems, obstacle: obstacle !== null && owner.isLibrary ? inLibrary(obstacle, owner) : obstacle };
}

/** Returns the distinct systems of a node, reusing references that other nodes have resolved. */
async function systemsOf(
  node: AgentNode,
  resolve: Resolve,
  known: Known,
): Promise<readonly ResolvedSystem[]> {
  const found = new Map<string, ResolvedSystem>();
  for (const reference of node.aiOptions?.mcpServers ?? []) {
    const { appId, resourceDefinitionId, resourceName } = reference;
    const key = JSON.stringify([appId, resourceDefinitionId, resourceName]);
    const systems = known.get(key) ?? (await resolve([reference]));
    known.set(key, systems);
    systems.forEach((system) => found.set(system.systemId ?? key, system));
  }
  return [...found.values()];
}

/** Adds to the obstacle of a library node how to fix it in the library. */
function inLibrary({ code, message }: NodeObstacle, { appId, appVersionId }: NodeOwner): NodeObstacle {
  const remedy =
    `The node belongs to the library "${appId}". Test the connections of its version "${appVersionId}" and enable its tools. ` +
    'If that is not enough, make another build of the library and use that build.';
  return { code, message: `${message} ${remedy}` };
}

/** Returns the obstacle that fails a run (see requireTools), or else an untested system. */
function obstacleOf(systems: readonly ResolvedSystem[]): NodeObstacle | null {
  const maxTools = agentLimits.tools;
  const tools = systems.flatMap((system) => system.tools);
  const { length } = tools.filter(({ state }) => state === ResolvedToolState.Ready);
  if (length === 0) {
    const message = 'The agent has no ready tool, so every run of the node fails.';
    return { code: 'AGENT_WITHOUT_TOOLS', message };
  }
  const message = `The agent has ${length} ready tools, but at most ${maxTools} are allowed, so every run of the node fails.`;
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
