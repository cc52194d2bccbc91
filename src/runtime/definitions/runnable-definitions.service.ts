import { Injectable } from '@nestjs/common';
import { BuildDefinitionsService } from '../../delivery/builds/contents/build-definitions.service.js';
import { BuildDamagedError } from '../../delivery/builds/model/builds.errors.js';
import type { BuildDefinition } from '../../delivery/builds/model/builds.types.js';
import { RecentlyUsed } from '../../platform/recently-used.js';
import { isDatabaseFailure } from '../../store/database.errors.js';
import { makeUnicodeClasses } from '#engine/expressions';
import { processLimits } from '../process.limits.js';
import { cached, type Steps } from '#engine/support';
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

/** Bytes of memory for each character of a graph as JSON, and of a condition when it is compiled. Measured. */
const BYTES_A_CHARACTER = 8;
const BYTES_A_CHARACTER_OF_CONDITIONS = 256;
const EVERYTHING = ['*'];

/** A definition of a build with all that running it needs, made once and never changed. */
export class RunnableDefinition {
  readonly runtime: RuntimeDefinition;
  /** By what its instances are found. */
  readonly searchable: SearchableData;
  private readonly schemas = new WeakMap<JsonObject, CompiledSchema>();

  /** @param damage what is wrong with its build, so that it can be read, but not run */
  constructor(
    readonly build: BuildDefinition,
    private readonly damage?: string,
  ) {
    this.runtime = new RuntimeDefinition(build.graph);
    this.searchable = new SearchableData(build.graph.searchable ?? []);
  }

  /** @throws EngineIncident when it must not run */
  demandWhole(): void {
    if (this.damage !== undefined) {
      throw new EngineIncident('PROCESS_DEFINITION', 'DEFINITION', this.damage);
    }
  }

  get graph(): BuildDefinition['graph'] {
    return this.build.graph;
  }

  /** Bytes of memory that it comes to when all of it has been used; about right is good enough. */
  get estimatedBytes(): number {
    const { flows, nodes } = this.graph;
    const conditions = [...flows, ...nodes].reduce((sum, { condition }) => sum + (condition?.length ?? 0), 0);
    return this.build.graphLength * BYTES_A_CHARACTER + conditions * BYTES_A_CHARACTER_OF_CONDITIONS;
  }

  /** What the body of a start breaks of the input schema; a large one is checked with breaks. */
  *faultsOfStart(body: JsonObject): Steps<SchemaFault[]> {
    const { inputSchema } = this.graph;
    return inputSchema === null ? [] : yield* this.compiled(inputSchema).steps(body);
  }

  /** What a body, merged over the one that the UI action brings itself, breaks of its schema. */
  faultsOfUiAction({ body: own, bodySchema }: GraphUiAction, body: JsonObject): SchemaFault[] {
    return bodySchema === null
      ? []
      : this.compiled(bodySchema).check(own === null ? body : deepMerge(own, body));
  }

  /**
   * What data break that were corrected and did not break before: of the input schema, and of the schemas of the UI actions that store one
   * of the corrected members. A schema does not refuse members of the top that it does not know: other steps store them.
   * @param names of the corrected members
   * @throws SchemaTooCostlyError when all of this together asks for too much work
   */
  faultsOfCorrection(before: JsonObject, after: JsonObject, names: readonly string[]): SchemaFault[] {
    const cost = { steps: 0 };
    return this.schemasOf(names).flatMap(({ schema, keys }) => {
      const faults = (data: JsonObject): SchemaFault[] =>
        this.compiled(schema)
          .check(pickKeys(data, keys), cost)
          .filter((fault) => !isOfUnknownMember(schema, fault));
      const found = faults(after);
      // A list that is full may hide some.
      const known = found.length < SCHEMA_LIMITS.faults ? new Set(faults(before).map(written)) : new Set();
      return found.filter((fault) => !known.has(written(fault)));
    });
  }

  /** The schemas of what callers send, as far as it is stored in one of these members; with the keys that say what is stored. */
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

function written({ field, rule }: SchemaFault): string {
  return `${field} ${rule}`;
}

/** Id of a node in the BPMN file; undefined where there is none. */
export function elementOf(definition: RunnableDefinition, node: number | null): string | undefined {
  return node === null ? undefined : definition.nodeAt(node)?.key;
}

/** A definition as far as lanes are asked, ready to run or not. */
export type DefinitionWithLanes = Pick<RunnableDefinition, 'build'>;

type Placed = Pick<GraphNode, 'lane'>;

/** The lane that a node stands in; undefined outside of lanes. */
export function laneOf({ build }: DefinitionWithLanes, { lane }: Placed): GraphLane | undefined {
  return lane === null ? undefined : build.graph.lanes[lane];
}

/** Whether the lane of a node names permissions. */
export function asksForPermission(definition: DefinitionWithLanes, node: Placed): boolean {
  return (laneOf(definition, node)?.execute ?? []).length > 0;
}

/** Whether the lane of a node lets a caller act (docs/process-semantics.md, section 12). */
export function mayAct(definition: DefinitionWithLanes, node: Placed, principal: Principal): boolean {
  const execute = laneOf(definition, node)?.execute ?? [];
  return (
    execute.length === 0 ||
    execute.some((permission) => mayFor(principal, permission, definition.build.appId))
  );
}

/**
 * Definitions ready to run, those used last up to `definitionCacheBytes`. A limit of its own, since a compiled
 * definition takes many times the memory of its graph. A build never changes, so none grows old.
 */
@Injectable()
export class RunnableDefinitionsService {
  private readonly known = new RecentlyUsed<number, RunnableDefinition>({
    bytes: processLimits.definitionCacheBytes,
  });

  constructor(private readonly builds: BuildDefinitionsService) {}

  /** The definition, if it is in memory; for work inside of a transaction, which must not ask for more. */
  held(id: number): RunnableDefinition | undefined {
    return this.known.get(id);
  }

  /** @throws ProcessDefinitionNotFoundError */
  async byId(id: number): Promise<RunnableDefinition> {
    return this.held(id) ?? (await this.of(await this.builds.byId(id)));
  }

  /**
   * The definition for a report of what has failed: that it cannot be loaded or compiled can be the failure itself.
   * @returns undefined then
   * @throws whatever the database does
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

  /** The process that one calls. @throws ProcessDefinitionNotFoundError */
  async called(
    from: RunnableDefinition,
    appId: string | null,
    processName: string,
  ): Promise<RunnableDefinition> {
    return this.of(await this.builds.resolveCall(from.build, appId, processName));
  }

  /** The same object for the same definition, as long as it is held. */
  async of(build: BuildDefinition): Promise<RunnableDefinition> {
    if (this.held(build.id) === undefined) {
      await makeUnicodeClasses(JSON.stringify(build.graph));
      const damage = await this.damageOf(build);
      if (damage !== undefined) {
        // Not held, so that it runs again once it is restored.
        return new RunnableDefinition(build, damage);
      }
    }
    return this.held(build.id) ?? this.made(build);
  }

  private async damageOf(build: BuildDefinition): Promise<string | undefined> {
    try {
      await this.builds.demandWhole(build);
      return undefined;
    } catch (error) {
      if (error instanceof BuildDamagedError) {
        return error.message;
      }
      throw error;
    }
  }

  private made(build: BuildDefinition): RunnableDefinition {
    const definition = new RunnableDefinition(build);
    this.known.set(build.id, definition, definition.estimatedBytes);
    return definition;
  }
}
