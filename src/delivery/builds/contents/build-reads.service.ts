import { pageLimits } from '../../../platform/validation/page.limits.js';
import { Injectable } from '@nestjs/common';
import { readPage, type Page } from '../../../platform/validation/page.js';
import { runYielding, type YieldingWork } from '#engine/support';
import { Database } from '../../../store/database.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import { BuildContents } from '../storage/build-contents.repository.js';
import { ProcessDefinitionNotFoundError } from '../model/builds.errors.js';
import { workflowText, type AgentWorkflow } from '../model/workflow-text.js';
import { Builds } from '../storage/builds.repository.js';
import type {
  BuildManifest,
  BuildQuery,
  BuildSummary,
  DefinitionKey,
  LibraryAgents,
} from '../model/builds.types.js';

/** Reads builds. */
@Injectable()
export class BuildReadsService {
  constructor(private readonly database: Database) {}

  /** Returns a page of the builds of an application, newest first. */
  async page(query: BuildQuery): Promise<Page<BuildSummary>> {
    return readPage(
      query.limit ?? pageLimits.size,
      (limit) => this.database.read((manager) => Builds.page(manager, query, limit)),
      ({ buildId }) => buildId,
    );
  }

  /** Returns the newest build of an application. */
  async newest(appId: string): Promise<BuildSummary | undefined> {
    const [build] = await this.database.read((manager) => Builds.page(manager, { appId }, 1));
    return build;
  }

  /**
   * Returns the contents of a build.
   * @throws BuildNotFoundError when the application has no such build
   */
  async manifest(appId: string, buildId: string): Promise<BuildManifest> {
    return this.database.read(async (manager) => ({
      ...(await Builds.require(manager, appId, buildId)),
      resources: await BuildContents.resources(manager, buildId),
      libraries: await BuildContents.libraries(manager, buildId),
    }));
  }

  /** @throws BuildNotFoundError when the application has no such build */
  async summary(appId: string, buildId: string): Promise<BuildSummary> {
    return this.database.read((manager) => Builds.require(manager, appId, buildId));
  }

  /**
   * Returns the workflows of a build that have an agent, by name, without those of its libraries.
   * @throws BuildNotFoundError when the application has no such build
   */
  async agents(appId: string, buildId: string): Promise<AgentWorkflow[]> {
    const rows = await this.database.read(async (manager) => {
      await Builds.require(manager, appId, buildId);
      return BuildContents.agentWorkflows(manager, [buildId]);
    });
    const found: AgentWorkflow[] = [];
    for (const { definition } of rows) {
      found.push(await runYielding(agentsIn(definition)));
    }
    return found;
  }

  /**
   * Returns the builds that the given ones use as libraries, at every level, closest first, each with its workflows that have an agent.
   * Runs three statements regardless of the number of builds.
   * @param includeGiven whether to include the given builds themselves, such as the libraries that a package names
   */
  async libraryAgents(buildIds: readonly string[], includeGiven = false): Promise<LibraryAgents[]> {
    if (buildIds.length === 0) {
      return [];
    }
    const { builds, rows, ids } = await this.database.read(async (manager) => {
      const libraries = await BuildContents.librariesOf(manager, buildIds);
      const libraryIds = libraries.map(({ libraryBuildId }) => libraryBuildId);
      const all = [...new Set([...(includeGiven ? buildIds : []), ...libraryIds])];
      return {
        ids: all,
        builds: await Builds.byIds(manager, all),
        rows: await BuildContents.agentWorkflows(manager, all),
      };
    });
    const found = new Map(ids.map((id): [string, AgentWorkflow[]] => [id, []]));
    for (const { buildId, definition } of rows) {
      found.get(buildId)?.push(await runYielding(agentsIn(definition)));
    }
    return [...found].flatMap(([id, workflows]) =>
      builds
        .filter(({ buildId }) => buildId === id)
        .map(({ appId, appVersionId, buildId }) => ({ appId, appVersionId, buildId, workflows })),
    );
  }

  /** Returns the newest builds of a version and the newest builds that use one of them as a library, at most `limit` of each kind. */
  async ofVersionAndUsers(version: AppVersionKey, limit: number): Promise<BuildSummary[]> {
    return this.database.read(async (manager) => {
      const own = await Builds.ofVersion(manager, version, limit);
      const ids = own.map(({ buildId }) => buildId);
      const users = await BuildContents.usersOf(manager, version.appId, ids);
      return [...own, ...(await Builds.byIds(manager, users, limit))];
    });
  }

  /**
   * Returns the BPMN file of a process of a build, as it was delivered.
   * @throws BuildNotFoundError, ProcessDefinitionNotFoundError
   */
  async bpmn({ appId, buildId, processName }: DefinitionKey): Promise<string> {
    return this.database.read(async (manager) => {
      await Builds.require(manager, appId, buildId);
      const bpmn = await BuildContents.bpmn(manager, buildId, processName);
      if (bpmn === null) {
        throw new ProcessDefinitionNotFoundError();
      }
      return bpmn;
    });
  }
}

function* agentsIn(definition: Buffer): YieldingWork<AgentWorkflow> {
  const workflow = yield* workflowText(definition);
  return yield* workflow.agents();
}
