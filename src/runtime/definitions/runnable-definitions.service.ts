import { Injectable } from '@nestjs/common';
import { BuildDefinitionsService } from '../../delivery/builds/contents/build-definitions.service.js';
import { BuildDamagedError } from '../../delivery/builds/model/builds.errors.js';
import type { BuildDefinition } from '../../delivery/builds/model/builds.types.js';
import { LruCache } from '../../platform/lru-cache.js';
import { isDatabaseFailure } from '../../store/database.errors.js';
import { makeUnicodeClasses } from '#engine/expressions';
import { processLimits } from '../process.limits.js';
import { cached, type YieldingWork } from '#engine/support';
import { isJsonObject, type JsonObject } from '#engine/json';
import { parseKey, pickKeys, deepMerge } from '#engine/paths';
import {
  compileSchema,
  NOT_ALLOWED_RULE,
  SCHEMA_LIMITS,
  type CompiledSchema,
  type SchemaFault,
} from '#engine/json-schema';
import type { GraphNode, GraphUiAction, GraphLane } from '#engine/definitions';
import { EngineIncident, RuntimeDefinition } from '#engine/tokens';
import { SearchableData } from '../model/search-terms.js';
import { mayFor } from '../../platform/user/grant.js';
import type { Principal } from '../../platform/user/principal.js';

/** Measured bytes of memory per character of a graph in JSON, and per character of a compiled condition. */
const BYTES_PER_CHARACTER = 8;
const BYTES_PER_CONDITION_CHARACTER = 256;
const EVERYTHING = ['*'];

/** Process definition of a build, ready to run and immutable. */
export class RunnableDefinition {
  readonly runtime: RuntimeDefinition;
  /** Data paths by which its instances can be found. */
  readonly searchable: SearchableData;
  private readonly schemas = new WeakMap<JsonObject, CompiledSchema>();

  /** @param damage what is wrong with the build; a damaged definition can be read but not run */
  constructor(
    readonly build: BuildDefinition,
    private readonly damage?: string,
  ) {
    this.runtime = new RuntimeDefinition(build.graph);
    this.searchable = new SearchableData(build.graph.searchable ?? []);
  }

  /** @throws EngineIncident when the build is damaged */
  requireUndamaged(): void {
    if (this.damage !== undefined) {
      throw new EngineIncident('PROCESS_DEFINITION', 'DEFINITION', this.damage);
    }
  }

  get graph(): BuildDefinition['graph'] {
    return this.build.graph;
  }

  /** Approximate bytes of memory when all conditions and schemas are compiled. */
  get estimatedBytes(): number {
    const { flows, nodes } = this.graph;
    const conditions = [...flows, ...nodes].reduce((sum, { condition }) => sum + (condition?.length ?? 0), 0);
    return this.build.graphLength * BYTES_PER_CHARACTER + conditions * BYTES_PER_CONDITION_CHARACTER;
  }

  /** Validates a start body against the input schema, in slices if it is large. */
  *faultsOfStart(body: JsonObject): YieldingWork<SchemaFault[]> {
    const { inputSchema } = this.graph;
    return inputSchema === null ? [] : yield* this.compiled(inputSchema).steps(body);
  }

  /** Validates a request body, merged over the default body of the UI action, against its schema. */
  faultsOfUiAction({ body: own, bodySchema }: GraphUiAction, body: JsonObject): SchemaFault[] {
    return bodySchema === null
      ? []
      : this.compiled(bodySchema).check(own === null ? body : deepMerge(own, body));
  }

  /**
   * Returns schema violations that a data correction introduces, by the input schema and the schemas of UI actions that store a
   * corrected member. Unknown top-level members are allowed because other steps store them.
   * @param names corrected members
   * @throws SchemaTooCostlyError when the checks together are too costly
   */
  faultsOfCorrection(before: JsonObject, after: JsonObject, names: readonly string[]): SchemaFault[] {
    const cost = { steps: 0 };
    return this.schemasOf(names).flatMap(({ schema, keys }) => {
      const faults = (data: JsonObject): SchemaFault[] =>
        this.compiled(schema)
          .check(pickKeys(data, keys), cost)
          .filter((fault) => !isOfUnknownMember(schema, fault));
      const found = faults(after);
      // A full list may hide some.
      const known = found.length < SCHEMA_LIMITS.faults ? new Set(faults(before).map(faultKey)) : new Set();
      return found.filter((fault) => !known.has(faultKey(fault)));
    });
  }

  /** Schemas of request bodies that are stored in one of these members, with the keys of what is stored. */
  private schemasOf(names: readonly string[]): { schema: JsonObject; keys: readonly string[] }[] {
    const ofUiActions = this.graph.nodes.flatMap(({ actions, uiActions }) =>
      uiActions.flatMap(({ action, bodySchema: schema }) => {
        const keys = actions.find(({ name }) => name === action)?.keys ?? [];
        const isStored = keys.some((key) => key === '*' || names.includes(String(parseKey(key)[0])));
        return schema !== null && isStored ? [{ schema, keys }] : [];
      }),
    );
    const { inputSchema } = this.graph;
    return [...(inputSchema === null ? [] : [{ schema: inputSchema, keys: EVERYTHING }]), ...ofUiActions];
  }

  nodeAt(index: number): GraphNode | undefined {
    return this.graph.nodes[index];
  }

  private compiled(schema: JsonObject): CompiledSchema {
    return cached(this.schemas, schema, () => compileSchema(schema));
  }
}

function isOfUnknownMember(schema: JsonObject, { field, rule }: SchemaFault): boolean {
  const { properties } = schema;
  const isKnown = isJsonObject(properties) && Object.hasOwn(properties, field);
  return rule === NOT_ALLOWED_RULE && !field.includes('.') && !isKnown;
}

function faultKey({ field, rule }: SchemaFault): string {
  return `${field} ${rule}`;
}

/** Returns the id of a node in the BPMN file; undefined without a node. */
export function elementOf(definition: RunnableDefinition, node: number | null): string | undefined {
  return node === null ? undefined : definition.nodeAt(node)?.key;
}

/** Definition with its lanes, ready to run or not. */
export type DefinitionWithLanes = Pick<RunnableDefinition, 'build'>;

type NodeInLane = Pick<GraphNode, 'lane'>;

/** Returns the lane of a node; undefined outside lanes. */
export function laneOf({ build }: DefinitionWithLanes, { lane }: NodeInLane): GraphLane | undefined {
  return lane === null ? undefined : build.graph.lanes[lane];
}

/** Whether the lane of a node requires a permission. */
export function requiresPermission(definition: DefinitionWithLanes, node: NodeInLane): boolean {
  return (laneOf(definition, node)?.execute ?? []).length > 0;
}

/** Whether the lane of a node lets a caller act (docs/process-semantics.md, section 12). */
export function mayAct(definition: DefinitionWithLanes, node: NodeInLane, principal: Principal): boolean {
  const execute = laneOf(definition, node)?.execute ?? [];
  return (
    execute.length === 0 ||
    execute.some((permission) => mayFor(principal, permission, definition.build.appId))
  );
}

/**
 * Cache of definitions ready to run, limited to `definitionCacheBytes`. The limit is separate because a compiled
 * definition takes many times the memory of its graph. Builds are immutable, so entries never expire.
 */
@Injectable()
export class RunnableDefinitionsService {
  private readonly cache = new LruCache<number, RunnableDefinition>({
    bytes: processLimits.definitionCacheBytes,
  });

  constructor(private readonly builds: BuildDefinitionsService) {}

  /** Returns a cached definition, for use inside transactions, which must not load one. */
  held(id: number): RunnableDefinition | undefined {
    return this.cache.get(id);
  }

  /** @throws ProcessDefinitionNotFoundError */
  async byId(id: number): Promise<RunnableDefinition> {
    return this.held(id) ?? (await this.of(await this.builds.byId(id)));
  }

  /**
   * Returns the definition for an error report; undefined if it cannot be loaded or compiled, which may be the reported failure.
   * @throws failures of the database
   */
  async ifUsable(id: number): Promise<RunnableDefinition | undefined> {
    try {
      return await this.byId(id);
    } catch (error) {
      if (isDatabaseFailure(error)) {
        throw error;
      }
      return undefined;
    }
  }

  /** @throws BuildNotFoundError, ProcessDefinitionNotFoundError */
  async byName(appId: string, buildId: string, processName: string): Promise<RunnableDefinition> {
    return this.of(await this.builds.findDefinition(appId, buildId, processName));
  }

  /** Resolves the definition of a called process. @throws ProcessDefinitionNotFoundError */
  async called(
    from: RunnableDefinition,
    appId: string | null,
    processName: string,
  ): Promise<RunnableDefinition> {
    return this.of(await this.builds.resolveCall(from.build, appId, processName));
  }

  /** Returns the definition of a build, from the cache if possible. */
  async of(build: BuildDefinition): Promise<RunnableDefinition> {
    if (this.held(build.id) === undefined) {
      await makeUnicodeClasses(JSON.stringify(build.graph));
      const damage = await this.damageOf(build);
      if (damage !== undefined) {
        // Not cached, so that it can run once the build is restored.
        return new RunnableDefinition(build, damage);
      }
    }
    return this.held(build.id) ?? this.create(build);
  }

  private async damageOf(build: BuildDefinition): Promise<string | undefined> {
    try {
      await this.builds.verifyDefinition(build);
      return undefined;
    } catch (error) {
      if (error instanceof BuildDamagedError) {
        return error.message;
      }
      throw error;
    }
  }

  private create(build: BuildDefinition): RunnableDefinition {
    const definition = new RunnableDefinition(build);
    this.cache.set(build.id, definition, definition.estimatedBytes);
    return definition;
  }
}
