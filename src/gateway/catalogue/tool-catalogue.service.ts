import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { cached } from '#engine/support';
import { LruCache } from '../../platform/lru-cache.js';
import { BuildSystemsService } from '../../delivery/builds/contents/build-systems.service.js';
import { ActiveBuildsService } from '../../delivery/builds/active/active-builds.service.js';
import { BuildReadsService } from '../../delivery/builds/contents/build-reads.service.js';
import { ResolvedToolState } from '../../runtime/calls/agents/resolution/resolution.types.js';
import { SystemResolutionService } from '../../runtime/calls/agents/resolution/system-resolution.service.js';
import { SystemType } from '../../systems/model/system.types.js';
import { toolNames } from '../../platform/validation/tool-names.js';
import type { CatalogueTool } from './catalogue.types.js';
import { ToolSearch } from './tool-search.js';
import { gatewayLimits } from '../gateway.limits.js';

interface BuildTools {
  readonly tools: ReadonlyMap<string, CatalogueTool>;
  /** Made on first use. */
  readonly search: () => ToolSearch;
}

/** Finds the tools of MCP systems in the active build of an application. Call it outside transactions. */
@Injectable()
export class ToolCatalogueService {
  /** Tools by build, which never change; whether each is ready is read for every request. */
  private readonly builds = new LruCache<string, Promise<BuildTools>>({
    entries: gatewayLimits.cachedBuilds,
  });

  constructor(
    private readonly activeBuilds: ActiveBuildsService,
    private readonly reads: BuildReadsService,
    private readonly systems: BuildSystemsService,
    private readonly resolution: SystemResolutionService,
  ) {}

  /** Checks that an application has an endpoint. @throws ActiveBuildNotFoundError */
  async requireEndpoint(appId: string): Promise<void> {
    await this.activeBuilds.get(appId);
  }

  /** Returns the tools that may be called now, in the order of systems and of their servers' lists. @throws ActiveBuildNotFoundError */
  async ready(appId: string): Promise<CatalogueTool[]> {
    const tools = [...(await this.all(appId)).tools.values()];
    const states = await this.resolution.statesNow(tools.map(({ tool }) => tool));
    return tools.filter((_tool, index) => states[index] === ResolvedToolState.Ready);
  }

  /** Returns a tool, ready or not; undefined for an unknown name. @throws ActiveBuildNotFoundError */
  async find(appId: string, name: string): Promise<CatalogueTool | undefined> {
    return (await this.all(appId)).tools.get(name);
  }

  /** Returns whether a tool may be called now: it is still in the active build, reviewed and enabled. @throws ActiveBuildNotFoundError */
  async isReady(appId: string, { name, tool }: CatalogueTool): Promise<boolean> {
    const [state] = await this.resolution.statesNow([tool]);
    return state === ResolvedToolState.Ready && (await this.find(appId, name))?.tool.toolId === tool.toolId;
  }

  /** Returns the ready tools that match a query, best first. @throws ActiveBuildNotFoundError */
  async search(appId: string, query: string, limit: number): Promise<CatalogueTool[]> {
    const ready = new Map((await this.ready(appId)).map((tool) => [tool.name, tool]));
    const found = (await this.all(appId)).search().find(query, (name) => ready.has(name));
    return found.slice(0, limit).flatMap((name) => ready.get(name) ?? []);
  }

  /** Returns a text that changes when the list of ready tools does. */
  async version(appId: string): Promise<string> {
    const identities = (await this.ready(appId)).map(({ tool }) => [tool.toolId, tool.definitionHash]);
    return createHash('sha256').update(JSON.stringify(identities)).digest('base64');
  }

  private async all(appId: string): Promise<BuildTools> {
    const { buildId } = await this.activeBuilds.get(appId);
    const loading = cached(this.builds, buildId, () => this.load(appId, buildId));
    return loading.catch((error: unknown) => {
      this.builds.delete(buildId);
      throw error;
    });
  }

  private async load(appId: string, buildId: string): Promise<BuildTools> {
    const { appVersionId } = await this.reads.summary(appId, buildId);
    const found: Omit<CatalogueTool, 'name'>[] = [];
    const named = [];
    for (const system of await this.systems.own(buildId, appId, SystemType.Mcp)) {
      const { systemId, resourceId, resourceDefinitionId, resourceName } = system;
      for (const tool of await this.systems.tools(system)) {
        found.push({ key: { appId, appVersionId, resourceId, systemId, toolId: tool.toolId }, tool });
        named.push({ appId, resourceDefinitionId, resourceName, toolName: tool.name });
      }
    }
    const names = toolNames(named);
    const tools = new Map(
      found.map((each, index) => [names[index] ?? '', { ...each, name: names[index] ?? '' }]),
    );
    let search: ToolSearch | undefined;
    return { tools, search: () => (search ??= new ToolSearch(tools.values())) };
  }
}
