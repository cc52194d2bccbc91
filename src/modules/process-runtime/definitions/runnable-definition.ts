import type { JsonObject } from '../../../common/json.js';
import type { Steps } from '../../../common/turns.js';
import { deepMerge } from '../../../language/paths/data-paths.js';
import { compileSchema } from '../../../language/json-schema/json-schema.js';
import type { CompiledSchema, SchemaFault } from '../../../language/json-schema/json-schema.types.js';
import type { BuildDefinition } from '../../builds/model/builds.types.js';
import type { GraphNode, GraphUiAction } from '../../process-definitions/model/process-graph.types.js';
import { RuntimeDefinition } from '../engine/state/runtime-definition.js';
import { SearchableData } from './searchable-data.js';

/** Bytes of memory for each character of a graph as JSON, and of a condition when it is compiled. Measured. */
const BYTES_A_CHARACTER = 8;
const BYTES_A_CHARACTER_OF_CONDITIONS = 256;

/** A definition of a build with all that running it needs, made once and never changed. */
export class RunnableDefinition {
  readonly runtime: RuntimeDefinition;
  /** Whether its instances can start processes. */
  readonly startsProcesses: boolean;
  /** By what its instances are found. */
  readonly searchable: SearchableData;
  private readonly schemas = new WeakMap<JsonObject, CompiledSchema>();

  constructor(readonly build: BuildDefinition) {
    this.runtime = new RuntimeDefinition(build.graph);
    this.searchable = new SearchableData(build.graph.searchable ?? []);
    this.startsProcesses = build.graph.nodes.some(
      ({ call, actions }) =>
        call !== null || actions.some(({ operation }) => operation.kind === 'START_SUBPROCESS'),
    );
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
    return this.faults(bodySchema, bodySchema === null || own === null ? body : deepMerge(own, body));
  }

  /** The node of an index; undefined when there is none. */
  nodeAt(index: number): GraphNode | undefined {
    return this.graph.nodes[index];
  }

  private faults(schema: JsonObject | null, value: JsonObject): SchemaFault[] {
    return schema === null ? [] : this.compiled(schema).check(value);
  }

  private compiled(schema: JsonObject): CompiledSchema {
    const compiled = this.schemas.get(schema) ?? compileSchema(schema);
    this.schemas.set(schema, compiled);
    return compiled;
  }
}

/** Id of a node in the BPMN file; undefined where there is none. */
export function elementOf(definition: RunnableDefinition, node: number | null): string | undefined {
  return node === null ? undefined : definition.nodeAt(node)?.key;
}
