import { Injectable } from '@nestjs/common';
import { nameKey } from '../../../common/validation/resource-name.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AppPackagesService } from '../../builds/packages/app-packages.service.js';
import { BuildReadsService } from '../../builds/contents/build-reads.service.js';
import { BuildSystemsService } from '../../builds/contents/build-systems.service.js';
import { SystemsService } from '../../systems/registration/systems.service.js';
import { SystemType } from '../../systems/model/system.types.js';
import type { SystemState } from '../../systems/storage/system.entity.js';
import { ToolsService } from '../../tools/switching/tools.service.js';
import type { DefinedTool } from '../../tools/model/tool.types.js';
import {
  ResolvedSystemState,
  ResolvedToolState,
  type McpServerReference,
  type ResolvedSystem,
} from './resolution.types.js';
import { missing, SystemResolutionService } from './system-resolution.service.js';

/** What agents would have in a build made now: own systems as they are, libraries by their builds. */
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

  /** As SystemResolutionService.resolve, for a version. */
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

  /** Definition hashes by name of tools that the newest build of the application holds, which somebody has released; only asked when a tool is disabled. */
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
