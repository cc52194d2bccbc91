import { Injectable } from '@nestjs/common';
import { Env } from '../../../config/env.js';
import {
  BuildSystemsService,
  type BuildSystem,
  type BuildTool,
} from '../../builds/contents/build-systems.service.js';
import { SystemsService } from '../../systems/registration/systems.service.js';
import { SystemType } from '../../systems/model/system.types.js';
import type { SystemState } from '../../systems/storage/system.entity.js';
import { ToolsService } from '../../tools/switching/tools.service.js';
import type { ToolState } from '../../tools/model/tool.types.js';
import {
  ResolvedSystemState,
  ResolvedToolState,
  type McpServerReference,
  type ResolvedSystem,
  type ResolvedTool,
} from './resolution.types.js';

/**
 * Finds the systems and tools that an agent of a build may use (docs/agents.md): definitions of the build, flags of this
 * moment. The one place that decides whether a tool is ready.
 */
@Injectable()
export class SystemResolutionService {
  constructor(
    private readonly builds: BuildSystemsService,
    private readonly systems: SystemsService,
    private readonly tools: ToolsService,
    private readonly env: Env,
  ) {}

  /**
   * The systems of `mcpServers` of a node, in their order, each once. Not inside of a transaction.
   * @throws BuildNotFoundError
   */
  async resolve(
    buildId: string,
    mcpServers: readonly McpServerReference[],
  ): Promise<readonly ResolvedSystem[]> {
    const found = new Map<string, ResolvedSystem>();
    for (const reference of mcpServers) {
      const system = await this.one(buildId, reference);
      const { systemId, appId, resourceDefinitionId, resourceName } = system;
      const key = systemId ?? JSON.stringify([appId, resourceDefinitionId, resourceName]);
      found.set(key, found.get(key) ?? system);
    }
    return [...found.values()];
  }

  /**
   * Whether a tool of a build may be called at this moment. Ask before each call, because a person may have switched the tool
   * since it was resolved. Not inside of a transaction.
   */
  async stateNow({ toolId, definitionHash, state }: ResolvedTool): Promise<ResolvedToolState> {
    const live = (await this.tools.states([toolId])).get(toolId);
    const enabled = state !== ResolvedToolState.DisabledInBuild;
    return this.toolState({ definitionHash, enabled }, live);
  }

  private async one(buildId: string, reference: McpServerReference): Promise<ResolvedSystem> {
    const named = {
      appId: reference.appId ?? null,
      resourceDefinitionId: reference.resourceDefinitionId ?? null,
      resourceName: reference.resourceName ?? null,
    };
    const system = await this.builds.find(buildId, named, SystemType.Mcp);
    const live = system === null ? null : await this.systems.state(system.systemId);
    if (system === null || live === null || system.baseUrl === null) {
      return missing(reference);
    }
    const tools = await this.toolsOf(system);
    const { systemId, appId, resourceDefinitionId, resourceName } = system;
    const state = tools.length > 0 ? ResolvedSystemState.Ready : await this.stateWithoutTools(live);
    return { state, systemId, appId, resourceDefinitionId, resourceName, tools };
  }

  /** Of a system that had no tools when the build was made. */
  private async stateWithoutTools({ id, toolsSynchronisedAt }: SystemState): Promise<ResolvedSystemState> {
    if (toolsSynchronisedAt === null) {
      return ResolvedSystemState.NeverTested;
    }
    const tools = await this.tools.ofSystem(id);
    return tools.some(({ present }) => present)
      ? ResolvedSystemState.ToolsNotInBuild
      : ResolvedSystemState.Ready;
  }

  private async toolsOf(system: BuildSystem): Promise<ResolvedTool[]> {
    const tools = await this.builds.tools(system);
    const live = await this.tools.states(tools.map(({ toolId }) => toolId));
    return tools.map((tool) => {
      const now = live.get(tool.toolId);
      return { ...tool, state: this.toolState(tool, now), isEnabledNow: now?.enabled ?? false };
    });
  }

  private toolState(
    { definitionHash, enabled }: Pick<BuildTool, 'definitionHash' | 'enabled'>,
    live: ToolState | undefined,
  ): ResolvedToolState {
    if (live === undefined || !live.present) {
      return ResolvedToolState.Gone;
    }
    if (live.definitionHash !== definitionHash && this.env.get('TOOL_CHANGE_POLICY') !== 'accept') {
      return ResolvedToolState.Changed;
    }
    if (!enabled) {
      return ResolvedToolState.DisabledInBuild;
    }
    return live.enabled ? ResolvedToolState.Ready : ResolvedToolState.Disabled;
  }
}

/** What is told of a reference that leads nowhere. */
export function missing({ appId, resourceDefinitionId, resourceName }: McpServerReference): ResolvedSystem {
  return {
    state: ResolvedSystemState.Missing,
    systemId: null,
    appId: appId ?? '',
    resourceDefinitionId: resourceDefinitionId ?? '',
    resourceName: resourceName ?? '',
    tools: [],
  };
}
