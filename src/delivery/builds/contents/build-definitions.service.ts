import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { jsonValue } from '../../../platform/json/json-part.js';
import type { Page } from '../../../platform/validation/page.js';
import { inTurn, inTurns } from '#engine/support';
import { RecentlyUsed } from '../../../platform/recently-used.js';
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

/** Characters of graphs as JSON after which a page of definitions ends: 200 of the largest would not fit into memory. */
const PAGE_LENGTH = 4_194_304;
/** Definitions of a page that are read at first, before it is known how large those of the build are. */
const FIRST_READ = 20;
/** The number of no definition. */
const NONE = -1;

/**
 * Process definitions and workflows of builds, for whatever runs them (docs/contract.md, sections 4 and 6). Definitions are
 * kept in memory as far as `cacheEntries` and `cacheBytes` allow: messages and library checks look at
 * whole builds without compiling them. A build never changes, so no definition grows old.
 */
@Injectable()
export class BuildDefinitionsService {
  private readonly held: RecentlyUsed<number, BuildDefinition>;
  /** Ids of the definitions that are held, by name. */
  private readonly names = new Map<string, number>();
  private readonly workflows: RecentlyUsed<string, StoredWorkflow>;
  private readonly loading = new Map<string, Promise<BuildDefinition | null>>();

  constructor(
    private readonly database: Database,
    private readonly scopes: BuildScopes,
    private readonly seals: BuildSeals,
  ) {
    const limits = { entries: buildLimits.cacheEntries, bytes: buildLimits.cacheBytes };
    this.workflows = new RecentlyUsed({ bytes: buildLimits.cacheBytes });
    this.held = new RecentlyUsed(limits, (definition) => this.names.delete(nameOf(definition)));
  }

  /**
   * A process of a build by its name: one indexed query, none when it is held in memory. Not inside of a transaction.
   * @returns one object as long as it is held, so that it can be the key of a WeakMap
   * @throws BuildNotFoundError when the application has no such build
   * @throws ProcessDefinitionNotFoundError when the build has no process of this name
   */
  async findDefinition(appId: string, buildId: string, processName: string): Promise<BuildDefinition> {
    return required(await this.byName({ appId, buildId, processName }));
  }

  /**
   * As `findDefinition`, by the number of the definition.
   * @throws ProcessDefinitionNotFoundError
   */
  async byId(definitionId: number): Promise<BuildDefinition> {
    const held = this.held.get(definitionId);
    const load = (manager: EntityManager): Promise<DefinitionRow | null> =>
      DefinitionRows.byId(manager, definitionId);
    return held ?? required(await this.once(String(definitionId), load));
  }

  /** The processes of a build, without those of its libraries, in the order of their ids. */
  async ofBuild(buildId: string): Promise<BuildDefinition[]> {
    const ids = await this.database.read((manager) => DefinitionRows.idsOf(manager, buildId));
    const definitions: BuildDefinition[] = [];
    for (const id of ids) {
      definitions.push(await this.byId(id));
    }
    return definitions;
  }

  /**
   * A page of the processes of a build by name, without those of its libraries. It can end before its limit. Several are read by one
   * statement, past those that are held: what runs needs its place there.
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

  /** The first of these definitions, up to the length of a page. */
  private async upToLength(ids: readonly number[]): Promise<BuildDefinition[]> {
    const found: BuildDefinition[] = [];
    let [length, count] = [0, FIRST_READ];
    while (found.length < ids.length && length < PAGE_LENGTH) {
      const next = ids.slice(found.length, found.length + count);
      const rows = await this.database.read((manager) => DefinitionRows.byIds(manager, next));
      for (const row of rows) {
        if (length < PAGE_LENGTH) {
          found.push(await inTurn(() => toDefinition(row)));
          length += row.graph.length;
        }
      }
      // As many as still fit, if they are like these, and never many more than are known.
      const fitting = Math.ceil(((PAGE_LENGTH - length) * found.length) / length);
      count = Math.max(1, Math.min(fitting, 4 * count));
    }
    return found;
  }

  /**
   * The process that a call activity or an action of `from` starts.
   * @param appId a library of the build; null for the build itself and then its libraries, where it has no process of this
   * name. The closest level comes first, on one level the newest build (docs/process-semantics.md, section 1)
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
   * The workflow that an action of a process of this build starts, as it was delivered.
   * @param appId as in `resolveCall`
   * @returns one object as long as it is held, so that it can be the key of a WeakMap
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
    const held = this.workflows.get(key);
    if (held !== undefined) {
      return held;
    }
    const text = await this.seals.workflow(buildId, name);
    if (text === null) {
      return null;
    }
    const read = (await inTurns(jsonValue(text))) as StoredWorkflow;
    for (const node of read.nodes) {
      await makeUnicodeClasses(JSON.stringify(node));
    }
    // Somebody else may have read it meanwhile: there must be one object of it.
    const workflow = this.workflows.get(key) ?? read;
    this.workflows.set(key, workflow, text.length);
    return workflow;
  }

  /**
   * Makes sure that a definition is what the checksum of its build was made of.
   * @throws BuildDamagedError
   */
  async demandWhole(definition: BuildDefinition): Promise<void> {
    try {
      await this.seals.demandDefinition(definition);
    } catch (error) {
      // Read again once the build is restored.
      this.held.delete(definition.id);
      throw error;
    }
  }

  /** The build of an application that is active; null when none ever was. */
  async activeBuild(appId: string): Promise<ActiveBuild | null> {
    return this.database.read((manager) => ActiveBuilds.find(manager, appId));
  }

  /** @throws BuildNotFoundError */
  private async byName(key: DefinitionKey): Promise<BuildDefinition | null> {
    const name = keyOf(key);
    const held = this.held.get(this.names.get(name) ?? NONE);
    return held ?? this.once(name, (manager) => DefinitionRows.byName(manager, key));
  }

  /** Callers that ask for the same at the same time get the same answer. */
  private async once(
    key: string,
    load: (manager: EntityManager) => Promise<DefinitionRow | null | undefined>,
  ): Promise<BuildDefinition | null> {
    const running = this.loading.get(key);
    if (running !== undefined) {
      return running;
    }
    const loading = this.database
      .read(load)
      .then((row) => this.keep(row))
      .finally(() => this.loading.delete(key));
    this.loading.set(key, loading);
    return loading;
  }

  private keep(row: DefinitionRow | null | undefined): BuildDefinition | null {
    if (row === undefined) {
      throw new BuildNotFoundError();
    }
    if (row === null) {
      return null;
    }
    // Meanwhile it may have come in by its other key: there must be one object of it.
    const held = this.held.get(row.id);
    if (held !== undefined) {
      return held;
    }
    const definition = toDefinition(row);
    this.names.set(nameOf(definition), definition.id);
    this.held.set(definition.id, definition, definition.graphLength);
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

/** Ids hold no spaces. */
function keyOf({ appId, buildId, processName }: DefinitionKey): string {
  return `${appId} ${buildId} ${processName}`;
}
