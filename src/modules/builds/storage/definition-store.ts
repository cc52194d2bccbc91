import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { Env } from '../../../config/env.js';
import type { ProcessGraph } from '../../process-definitions/model/process-graph.types.js';
import { BuildNotFoundError, ProcessDefinitionNotFoundError } from '../model/builds.errors.js';
import type { BuildDefinition, DefinitionKey } from '../model/builds.types.js';
import { RecentlyUsed } from '../../../common/recently-used.js';
import { DefinitionRowsRepository, type DefinitionRow } from './definition-rows.repository.js';

/**
 * The process definitions of builds, in memory as far as DEFINITION_CACHE_ENTRIES and DEFINITION_CACHE_BYTES allow. A
 * build never changes, so what is held never has to be thrown away for being old.
 */
@Injectable()
export class DefinitionStore {
  private readonly held: RecentlyUsed<number, BuildDefinition>;
  /** Ids of the definitions that are held, by name. */
  private readonly names = new Map<string, number>();
  private readonly loading = new Map<string, Promise<BuildDefinition>>();

  constructor(
    private readonly database: Database,
    private readonly rows: DefinitionRowsRepository,
    env: Env,
  ) {
    const limits = { entries: env.get('DEFINITION_CACHE_ENTRIES'), bytes: env.get('DEFINITION_CACHE_BYTES') };
    this.held = new RecentlyUsed(limits, (definition) => this.names.delete(nameOf(definition)));
  }

  /**
   * One indexed query, or none when it is held.
   * @throws BuildNotFoundError, ProcessDefinitionNotFoundError
   */
  async byName(key: DefinitionKey): Promise<BuildDefinition> {
    const name = keyOf(key);
    const id = this.names.get(name);
    const held = id === undefined ? undefined : this.held.get(id);
    return held ?? this.once(name, () => this.loadByName(key));
  }

  /** @throws ProcessDefinitionNotFoundError */
  async byId(id: number): Promise<BuildDefinition> {
    return this.held.get(id) ?? this.once(String(id), () => this.loadById(id));
  }

  /** Those of a build, without its libraries, in the order of their ids. */
  async ofBuild(buildId: string): Promise<BuildDefinition[]> {
    const ids = await this.database.read((manager) => this.rows.idsOf(manager, buildId));
    const definitions: BuildDefinition[] = [];
    for (const id of ids) {
      definitions.push(await this.byId(id));
    }
    return definitions;
  }

  /** Callers that ask for the same at the same time get the same answer. */
  private async once(key: string, load: () => Promise<BuildDefinition>): Promise<BuildDefinition> {
    const running = this.loading.get(key);
    if (running !== undefined) {
      return running;
    }
    const loading = load().finally(() => this.loading.delete(key));
    this.loading.set(key, loading);
    return loading;
  }

  private async loadByName(key: DefinitionKey): Promise<BuildDefinition> {
    const row = await this.database.read((manager) => this.rows.byName(manager, key));
    if (row === undefined) {
      throw new BuildNotFoundError();
    }
    return this.keep(row);
  }

  private async loadById(id: number): Promise<BuildDefinition> {
    return this.keep(await this.database.read((manager) => this.rows.byId(manager, id)));
  }

  private keep(row: DefinitionRow | null): BuildDefinition {
    if (row === null) {
      throw new ProcessDefinitionNotFoundError();
    }
    // Meanwhile it may have come in by its other key: there must be one object of it.
    const held = this.held.get(row.id);
    if (held !== undefined) {
      return held;
    }
    const definition = toDefinition(row);
    this.names.set(nameOf(definition), definition.id);
    this.held.add(definition.id, definition, definition.graphLength);
    return definition;
  }
}

function toDefinition({ graph, ...columns }: DefinitionRow): BuildDefinition {
  return {
    ...columns,
    parentApplicationId: null,
    rootApplicationId: columns.appId,
    graph: JSON.parse(graph) as ProcessGraph,
    graphLength: graph.length,
  };
}

function nameOf({ appId, buildId, name }: BuildDefinition): string {
  return keyOf({ appId, buildId, processName: name });
}

/** Ids hold no spaces. */
function keyOf({ appId, buildId, processName }: DefinitionKey): string {
  return `${appId} ${buildId} ${processName}`;
}
