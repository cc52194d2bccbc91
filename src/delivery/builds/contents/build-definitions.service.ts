import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { jsonValue } from '../../../platform/json/json-part.js';
import type { Page } from '../../../platform/validation/page.js';
import { runAfterYield, runYielding } from '#engine/support';
import { LruCache } from '../../../platform/lru-cache.js';
import { makeUnicodeClasses } from '#engine/expressions';
import { Database } from '../../../store/database.js';
import type { ProcessGraph } from '#engine/definitions';
import {
  BuildNotFoundError,
  ProcessDefinitionNotFoundError,
  WorkflowNotFoundError,
} from '../model/builds.errors.js';
import type {
  BuildDefinition,
  DefinitionKey,
  DefinitionsQuery,
  StoredWorkflow,
} from '../model/builds.types.js';
import { ActiveBuilds, type ActiveBuild } from '../storage/builds.repository.js';
import { DefinitionRows, type DefinitionRow } from '../storage/definition-rows.repository.js';
import { textHash } from './build-checksum.js';
import { BuildScopes } from './build-scopes.js';
import { BuildSeals } from './build-seals.service.js';
import { buildLimits } from '../build.limits.js';
import { SingleFlight } from '../../../platform/concurrency/single-flight.js';

/** Maximum length of the graphs on a page, in characters of JSON: 200 of the largest would not fit into memory. */
const PAGE_LENGTH = 4_194_304;
/** Number of definitions read first, before the size of the build's definitions is known. */
const FIRST_READ = 20;
/** Id that no definition has. */
const NO_ID = -1;

/**
 * Provides process definitions and workflows of builds to the components that run them (docs/contract.md, sections 4 and 6). Caches
 * definitions within `cacheEntries` and `cacheBytes`, so messages and library checks can look at whole builds without compiling them.
 * Builds never change, so cached definitions never become stale.
 */
@Injectable()
export class BuildDefinitionsService {
  private readonly cached: LruCache<number, BuildDefinition>;
  /** Ids of cached definitions, by name. */
  private readonly names = new Map<string, number>();
  private readonly workflows: LruCache<string, StoredWorkflow>;
  private readonly loading = new SingleFlight<string, BuildDefinition | null>();

  constructor(
    private readonly database: Database,
    private readonly scopes: BuildScopes,
    private readonly seals: BuildSeals,
  ) {
    const limits = { entries: buildLimits.cacheEntries, bytes: buildLimits.cacheBytes };
    this.workflows = new LruCache({ bytes: buildLimits.cacheBytes });
    this.cached = new LruCache(limits, (definition) => this.names.delete(nameOf(definition)));
  }

  /**
   * Finds a process of a build by name, with one indexed query unless it is cached. Not for use inside a transaction.
   * @returns the same object as long as it is cached, so it can be the key of a WeakMap
   * @throws BuildNotFoundError when the application has no such build
   * @throws ProcessDefinitionNotFoundError when the build has no process of this name
   */
  async findDefinition(appId: string, buildId: string, processName: string): Promise<BuildDefinition> {
    return required(await this.byName({ appId, buildId, processName }));
  }

  /**
   * Finds a process definition by id.
   * @throws ProcessDefinitionNotFoundError
   */
  async byId(definitionId: number): Promise<BuildDefinition> {
    const cached = this.cached.get(definitionId);
    const load = (manager: EntityManager): Promise<DefinitionRow | null> =>
      DefinitionRows.byId(manager, definitionId);
    return cached ?? required(await this.once(String(definitionId), load));
  }

  /** Returns the processes of a build by ascending id, without those of its libraries. */
  async ofBuild(buildId: string): Promise<BuildDefinition[]> {
    const ids = await this.database.read((manager) => DefinitionRows.idsOf(manager, buildId));
    const definitions: BuildDefinition[] = [];
    for (const id of ids) {
      definitions.push(await this.byId(id));
    }
    return definitions;
  }

  /**
   * Returns a page of the processes of a build by name, without those of its libraries. It can end before its limit. Bypasses the cache,
   * which is needed for running processes.
   * @throws BuildNotFoundError when the application has no such build
   */
  async page(query: DefinitionsQuery, limit: number): Promise<Page<BuildDefinition>> {
    const ids = await this.database.read((manager) => DefinitionRows.idsByName(manager, query, limit + 1));
    if (ids === undefined) {
      throw new BuildNotFoundError();
    }
    const items = await this.upToLength(ids.slice(0, limit));
    return { items, next: items.length < ids.length ? (items.at(-1)?.name ?? null) : null };
  }

  /** Reads definitions until the page is full. */
  private async upToLength(ids: readonly number[]): Promise<BuildDefinition[]> {
    const found: BuildDefinition[] = [];
    let [length, count] = [0, FIRST_READ];
    while (found.length < ids.length && length < PAGE_LENGTH) {
      const next = ids.slice(found.length, found.length + count);
      const rows = await this.database.read((manager) => DefinitionRows.byIds(manager, next));
      for (const row of rows) {
        if (length < PAGE_LENGTH) {
          found.push(await runAfterYield(() => toDefinition(row)));
          length += row.graph.length;
        }
      }
      // Estimate how many more fit from the average length so far, and grow the batch at most fourfold.
      const fitting = Math.ceil(((PAGE_LENGTH - length) * found.length) / length);
      count = Math.max(1, Math.min(fitting, 4 * count));
    }
    return found;
  }

  /**
   * Finds the process that a call activity or an action of `from` starts.
   * @param appId a library of the build; null for the build itself and then its libraries, the closest level first and within a level the
   * newest build (docs/process-semantics.md, section 1)
   * @throws ProcessDefinitionNotFoundError, LibraryRefusedError
   */
  async resolveCall(
    from: BuildDefinition,
    appId: string | null,
    processName: string,
  ): Promise<BuildDefinition> {
    const found = await this.scopes.find(from.buildId, appId, (build) =>
      this.byName({ appId: build.appId, buildId: build.buildId, processName }),
    );
    return required(found);
  }

  /**
   * Finds the workflow that an action of a process of this build starts, as it was delivered.
   * @param appId as in `resolveCall`
   * @returns the same object as long as it is cached, so it can be the key of a WeakMap
   * @throws WorkflowNotFoundError, BuildNotFoundError, LibraryRefusedError, BuildDamagedError
   */
  async workflow(buildId: string, appId: string | null, name: string): Promise<StoredWorkflow> {
    const found = await this.scopes.find(buildId, appId, (build) => this.ownWorkflow(build.buildId, name));
    if (found === null) {
      throw new WorkflowNotFoundError();
    }
    return found;
  }

  private async ownWorkflow(buildId: string, name: string): Promise<StoredWorkflow | null> {
    const key = `${buildId} ${name}`;
    const cached = this.workflows.get(key);
    if (cached !== undefined) {
      return cached;
    }
    const text = await this.seals.workflow(buildId, name);
    if (text === null) {
      return null;
    }
    const read = (await runYielding(jsonValue(text))) as StoredWorkflow;
    for (const node of read.nodes) {
      await makeUnicodeClasses(JSON.stringify(node));
    }
    // A concurrent call may have cached it: all callers must get the same object.
    const workflow = this.workflows.get(key) ?? read;
    this.workflows.set(key, workflow, text.length);
    return workflow;
  }

  /**
   * Verifies a definition against the checksum of its build.
   * @throws BuildDamagedError
   */
  async verifyDefinition(definition: BuildDefinition): Promise<void> {
    try {
      await this.seals.verifyDefinition(definition);
    } catch (error) {
      // Read it again once the build has been restored.
      this.cached.delete(definition.id);
      throw error;
    }
  }

  /** Returns the active build of an application, or null when there is none. */
  async activeBuild(appId: string): Promise<ActiveBuild | null> {
    return this.database.read((manager) => ActiveBuilds.find(manager, appId));
  }

  /** @throws BuildNotFoundError */
  private async byName(key: DefinitionKey): Promise<BuildDefinition | null> {
    const name = keyOf(key);
    const cached = this.cached.get(this.names.get(name) ?? NO_ID);
    return cached ?? this.once(name, (manager) => DefinitionRows.byName(manager, key));
  }

  /** Shares the result among concurrent calls for the same key. */
  private async once(
    key: string,
    load: (manager: EntityManager) => Promise<DefinitionRow | null | undefined>,
  ): Promise<BuildDefinition | null> {
    return this.loading.run(key, async () => this.keep(await this.database.read(load)));
  }

  private keep(row: DefinitionRow | null | undefined): BuildDefinition | null {
    if (row === undefined) {
      throw new BuildNotFoundError();
    }
    if (row === null) {
      return null;
    }
    // A concurrent call by its other key may have cached it: all callers must get the same object.
    const cached = this.cached.get(row.id);
    if (cached !== undefined) {
      return cached;
    }
    const definition = toDefinition(row);
    this.names.set(nameOf(definition), definition.id);
    this.cached.set(definition.id, definition, definition.graphLength);
    return definition;
  }
}

function required(definition: BuildDefinition | null): BuildDefinition {
  if (definition === null) {
    throw new ProcessDefinitionNotFoundError();
  }
  return definition;
}

function toDefinition({ graph, ...columns }: DefinitionRow): BuildDefinition {
  return {
    ...columns,
    parentApplicationId: null,
    rootApplicationId: columns.appId,
    graph: JSON.parse(graph) as ProcessGraph,
    graphLength: graph.length,
    hash: textHash(graph),
  };
}

function nameOf({ appId, buildId, name }: BuildDefinition): string {
  return keyOf({ appId, buildId, processName: name });
}

/** Joins the parts by spaces, which ids never contain. */
function keyOf({ appId, buildId, processName }: DefinitionKey): string {
  return `${appId} ${buildId} ${processName}`;
}
