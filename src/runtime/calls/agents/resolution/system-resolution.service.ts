import { Injectable } from '@nestjs/common';
import { Env } from '../../../../platform/config/env.js';
import {
  BuildSystemsService,
  type BuildSystem,
  type BuildTool,
} from '../../../../delivery/builds/contents/build-systems.service.js';
import { SystemsService } from '../../../../systems/registration/systems.service.js';
import { SystemType } from '../../../../systems/model/system.types.js';
import type { SystemState } from '../../../../systems/storage/system.entity.js';
import { ToolsService } from '../../../../systems/tools/switching/tools.service.js';
import type { ToolState, DefinedTool } from '../../../../systems/tools/model/tool.types.js';
import {
  ResolvedSystemState,
  ResolvedToolState,
  type McpServerReference,
  type ResolvedSystem,
  type ResolvedTool,
} from './resolution.types.js';
import { nameKey } from '../../../../platform/validation/resource-name.js';
import type { AppVersionKey } from '../../../../apps/apps.types.js';
import { AppPackagesService } from '../../../../delivery/builds/packages/app-packages.service.js';
import { BuildReadsService } from '../../../../delivery/builds/contents/build-reads.service.js';

/**
 * Resolves the systems and tools that an agent of a build may use (docs/agents.md), from definitions of the build and current flags.
 * The only place that decides whether a tool is ready.
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
   * Resolves the distinct systems of `mcpServers` of a node, in order. Must not run inside a transaction.
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
   * Returns the current state of a tool. Check it before each call, because a person may have disabled the tool since it was
   * resolved. Must not run inside a transaction.
   */
  async stateNow({ state, ...tool }: ResolvedTool): Promise<ResolvedToolState> {
    const [now] = await this.statesNow([{ ...tool, enabled: state !== ResolvedToolState.DisabledInBuild }]);
    return now ?? ResolvedToolState.Gone;
  }

  /** Returns the current states of tools of a build, in their order. Must not run inside a transaction. */
  async statesNow(
    tools: readonly Pick<BuildTool, 'toolId' | 'definitionHash' | 'enabled'>[],
  ): Promise<ResolvedToolState[]> {
    const live = await this.tools.states(tools.map(({ toolId }) => toolId));
    return tools.map((tool) => this.toolState(tool, live.get(tool.toolId)));
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

  /** Returns the state of a system that had no tools when the build was made. */
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

/** Returns the result for an unresolved reference. */
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

/** Resolves systems as in a build made now: the version's own systems as they are, libraries from their builds. */
@Injectable()
export class DraftResolutionService {
  constructor(
    private readonly packages: AppPackagesService,
    private readonly builds: BuildReadsService,
    private readonly buildSystems: BuildSystemsService,
    private readonly systems: SystemsService,
    private readonly tools: ToolsService,
    private readonly resolution: SystemResolutionService,
  ) {}

  /** Resolves the systems of `mcpServers` of a node in a version. */
  async resolve(
    version: AppVersionKey,
    mcpServers: readonly McpServerReference[],
  ): Promise<readonly ResolvedSystem[]> {
    const states = await this.systems.states(version);
    const found: ResolvedSystem[] = [];
    for (const reference of mcpServers) {
      const isOwn = (reference.appId ?? version.appId) === version.appId;
      found.push(
        ...(isOwn ? [await this.own(version, states, reference)] : await this.ofLibrary(version, reference)),
      );
    }
    return found;
  }

  private async own(
    version: AppVersionKey,
    states: readonly SystemState[],
    reference: McpServerReference,
  ): Promise<ResolvedSystem> {
    const system = states.find((state) => state.type === SystemType.Mcp && isNamed(state, reference));
    if (system === undefined || system.baseUrl === null) {
      return missing(reference);
    }
    const { id: systemId, appId, resourceDefinitionId, resourceName, toolsSynchronisedAt } = system;
    const defined = await this.tools.ofSystem(systemId);
    const state =
      defined.length > 0 || toolsSynchronisedAt !== null
        ? ResolvedSystemState.Ready
        : ResolvedSystemState.NeverTested;
    const reviewed = await this.reviewed(version, resourceDefinitionId, defined);
    const tools = defined.map((tool) => ({
      ...tool,
      toolId: tool.id,
      state: stateOf(tool, reviewed.get(tool.name)),
      isEnabledNow: tool.enabled,
    }));
    return { systemId, appId, resourceDefinitionId, resourceName, state, tools };
  }

  private async ofLibrary(
    version: AppVersionKey,
    reference: McpServerReference,
  ): Promise<readonly ResolvedSystem[]> {
    const library = (await this.packages.libraries(version)).find(({ appId }) => appId === reference.appId);
    return library === undefined
      ? [missing(reference)]
      : this.resolution.resolve(library.buildId, [reference]);
  }

  /** Returns definition hashes by tool name from the newest build, which have been reviewed; read only if a tool is disabled. */
  private async reviewed(
    { appId }: AppVersionKey,
    resourceDefinitionId: string,
    tools: readonly DefinedTool[],
  ): Promise<ReadonlyMap<string, string>> {
    if (tools.every(({ enabled }) => enabled)) {
      return new Map();
    }
    const newest = await this.builds.newest(appId);
    const reference = { appId, resourceDefinitionId, resourceName: null };
    const system =
      newest === undefined ? null : await this.buildSystems.find(newest.buildId, reference, SystemType.Mcp);
    const known = system === null ? [] : await this.buildSystems.tools(system);
    return new Map(known.map(({ name, definitionHash }) => [name, definitionHash]));
  }
}

function isNamed(state: SystemState, { resourceDefinitionId, resourceName }: McpServerReference): boolean {
  return (resourceDefinitionId ?? '') === ''
    ? nameKey(state.resourceName) === nameKey(resourceName ?? '')
    : state.resourceDefinitionId === resourceDefinitionId;
}

function stateOf(
  { enabled, present, definitionHash }: DefinedTool,
  reviewed: string | undefined,
): ResolvedToolState {
  if (!present) {
    return ResolvedToolState.Gone;
  }
  if (enabled) {
    return ResolvedToolState.Ready;
  }
  return reviewed === undefined || reviewed === definitionHash
    ? ResolvedToolState.Disabled
    : ResolvedToolState.Changed;
}
