import type { ProcessGraph } from '../../src/definitions/model/process-graph.types.js';
import { EngineIncident } from '../../src/tokens/state/engine.errors.js';
import type { BetsyCase, BetsyFeature } from '../support/betsy.js';
import { workflow } from './graph-builder.js';
import { checkInvariants } from '../support/invariants.js';
import { MemoryEngine, type MemoryInstance, type WorkflowAnswer } from '../support/memory-engine.js';

const TEN_SECONDS = 10_000;
const LONGEST_WAIT = 60_000;
/** Data that a script changes, by the text of the script. */
const RESULT_KEYS: Readonly<Record<string, string>> = {
  INCREMENT_INTEGER_VARIABLE: 'integerVariable',
  INCREMENT_INTEGER_VARIABLE_AND_LOG: 'integerVariable',
  SET_STRING_DATA: 'data',
};

/** Runs one case of a feature in memory: each former script is a workflow that this class answers. */
export class BetsyRun {
  private readonly trace: string[] = [];
  private readonly engine: MemoryEngine;
  private readonly intervals: { name: string; from: number }[] = [];
  private marker = false;

  constructor(graphs: readonly ProcessGraph[], scripts: ReadonlyMap<string, string>) {
    this.engine = new MemoryEngine(...graphs.map((graph) => withScripts(graph, scripts)));
    this.engine.afterStep = (instance) => checkInvariants(this.engine, instance);
    for (const script of scripts.values()) {
      this.engine.workflows.set(script, (input, id) => this.answer(script, input, id));
    }
  }

  /** @returns the trace, sorted: it is compared as a multiset */
  traceOf(
    feature: BetsyFeature,
    { input, integerVariable, alsoStart, waitMs }: BetsyCase,
    names: ReadonlyMap<string, string>,
  ): string[] {
    const data = { integerVariable, ...(input === null ? {} : { test: input }) };
    try {
      if (alsoStart !== undefined) {
        this.engine.start(names.get(alsoStart) ?? alsoStart, data);
      }
      this.engine.start(names.get(feature.process) ?? feature.process, data);
      this.engine.advance(Math.max(waitMs ?? 0, LONGEST_WAIT));
    } catch (error) {
      if (!(error instanceof EngineIncident)) {
        throw error;
      }
      this.trace.push('ERROR_runtime');
    }
    this.engine.incidents.forEach(() => this.trace.push('ERROR_runtime'));
    for (const instance of this.engine.instances.values()) {
      if (endedByError(instance)) {
        this.trace.push('ERROR_thrownErrorEvent');
      }
    }
    return this.trace.toSorted();
  }

  private answer(script: string, input: Record<string, unknown>, instanceId: number): WorkflowAnswer {
    const data = this.engine.instances.get(instanceId)?.state.data ?? input;
    switch (script) {
      case 'CREATE_LOG_FILE':
        return {};
      case 'INCREMENT_INTEGER_VARIABLE_AND_LOG':
        this.trace.push('INCREMENT');
        return { output: Number(data.integerVariable) + 1 };
      case 'INCREMENT_INTEGER_VARIABLE':
        return { output: Number(data.integerVariable) + 1 };
      case 'CREATE_MARKER_FILE':
        this.once('MARKER_exists');
        return {};
      case 'SET_STRING_DATA':
        return { output: 'String' };
      case 'LOG_DATA':
        this.trace.push(...(data.data === 'String' ? ['DATA_correct'] : []));
        return {};
      case 'THROW_ERROR':
        return { errorCode: 'ERR_CODE' };
      case 'WAIT_TEN_SECONDS':
        return { afterMs: TEN_SECONDS };
      case 'CREATE_TIMESTAMP_LOG_1':
      case 'CREATE_TIMESTAMP_LOG_2':
        return this.interval(script);
      default:
        this.trace.push(script);
        return {};
    }
  }

  private once(entry: string): void {
    if (!this.marker) {
      this.trace.push(entry);
      this.marker = true;
    }
  }

  private interval(name: string): WorkflowAnswer {
    const from = this.engine.now;
    if (this.intervals.some((other) => other.name !== name && Math.abs(other.from - from) < TEN_SECONDS)) {
      this.trace.push('EXECUTION_parallel');
    }
    this.intervals.push({ name, from });
    return { afterMs: TEN_SECONDS };
  }
}

function endedByError({ state, events }: MemoryInstance): boolean {
  return state.state === 'FAILED' && events.some(({ kind }) => kind === 'ERROR_THROWN');
}

function withScripts(graph: ProcessGraph, scripts: ReadonlyMap<string, string>): ProcessGraph {
  const nodes = graph.nodes.map((node) => {
    const script = scripts.get(node.key);
    return script === undefined
      ? node
      : {
          ...node,
          actions: [{ ...workflow(script, {}, RESULT_KEYS[script] ?? null), svcUuid: `${node.key}.script` }],
        };
  });
  return { ...graph, nodes };
}
