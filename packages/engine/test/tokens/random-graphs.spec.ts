import { describe, expect, it } from 'vitest';
import type { NodeKind } from '../../src/definitions/model/process-graph.types.js';
import { EngineIncident, EngineRefusal } from '../../src/tokens/state/engine.errors.js';
import { automatic, manual, returning, TestGraph, workflow } from './graph-builder.js';
import { checkInvariants } from '../support/invariants.js';
import { LIMITS, MemoryEngine, type MemoryInstance } from '../support/memory-engine.js';
import { Random } from '../support/random.js';

const SEED = Number(process.env.RANDOM_SEED ?? Date.now() % 1_000_000);
const GRAPHS = Number(process.env.RANDOM_GRAPHS ?? 400);
const STEPS = 40;

const KINDS: readonly NodeKind[] = [
  'USER_TASK',
  'USER_TASK',
  'USER_TASK',
  'TASK',
  'RECEIVE_TASK',
  'EXCLUSIVE_GATEWAY',
  'PARALLEL_GATEWAY',
  'PARALLEL_GATEWAY',
  'INCLUSIVE_GATEWAY',
  'INCLUSIVE_GATEWAY',
  'SUB_PROCESS',
  'CALL_ACTIVITY',
  'INTERMEDIATE_CATCH_EVENT',
  'END_EVENT',
];

/** Nodes of one level, connected at random, whether or not the result makes sense. */
class RandomGraph {
  readonly graph = new TestGraph();
  private count = 0;

  constructor(private readonly random: Random) {
    this.level(undefined, random.between(4, 12), 2);
  }

  private level(scope: string | undefined, size: number, depth: number): void {
    const inside = scope === undefined ? {} : { in: scope };
    const start = this.key('start');
    this.graph.start(start, inside);
    const nodes = Array.from({ length: size }, () => this.node(inside, depth));
    const boundaries = nodes.filter(() => this.random.chance(0.3)).flatMap((node) => this.boundary(node));
    this.flowFrom(start, nodes);
    for (const { key, kind } of nodes.filter((node) => node.kind !== 'END_EVENT')) {
      for (let flows = this.random.pick([1, 1, 2, 2, 3]); flows > 0; flows -= 1) {
        this.flowFrom(key, nodes, kind);
      }
    }
    boundaries.forEach((boundary) => this.flowFrom(boundary, nodes));
  }

  private key(kind: string): string {
    return `${kind.toLowerCase()}${(this.count += 1)}`;
  }

  private node(inside: { in?: string }, depth: number): { key: string; kind: NodeKind } {
    const drawn = this.random.pick(KINDS);
    const kind = drawn === 'SUB_PROCESS' && depth === 0 ? 'USER_TASK' : drawn;
    const key = this.key(kind);
    const canGoBack = this.random.chance(0.9);
    if (kind === 'CALL_ACTIVITY') {
      this.graph.call(
        key,
        {
          waits: this.random.chance(0.7),
          outputKey: 'out',
          multiInstance: this.random.pick([
            null,
            { collection: '[1, 2]', sequential: this.random.chance(0.5) },
          ]),
        },
        inside,
      );
    } else {
      this.graph.node(key, kind, { ...inside, canGoBack, ...this.optionsOf(kind) });
    }
    if (kind === 'SUB_PROCESS') {
      this.level(key, this.random.between(2, 5), depth - 1);
    }
    return { key, kind };
  }

  private optionsOf(kind: NodeKind): Parameters<TestGraph['node']>[2] {
    switch (kind) {
      case 'USER_TASK':
        return {
          actions: [
            returning('go'),
            ...(this.random.chance(0.3) ? [manual('more', { optional: true })] : []),
          ],
        };
      case 'TASK':
        return {
          actions: this.random.pick([
            [],
            [workflow('w', { delay: this.random.pick([null, 'PT5S']) })],
            [
              automatic('s', {
                kind: 'START_SUBPROCESS',
                process: 'child',
                appId: null,
                startCondition: null,
                copy: { mode: 'ALL' },
              }),
            ],
          ]),
        };
      case 'RECEIVE_TASK':
        return {
          event: { type: 'MESSAGE', message: 'm', correlation: null },
          timeout: this.random.pick([null, 'PT30S']),
        };
      case 'INTERMEDIATE_CATCH_EVENT':
        return { event: this.event() };
      case 'END_EVENT':
        return {
          event: this.random.pick([
            { type: 'NONE' },
            { type: 'NONE' },
            { type: 'NONE' },
            { type: 'TERMINATE' },
            { type: 'ERROR', code: 'E' },
          ] as const),
        };
      default:
        return {};
    }
  }

  private event() {
    return this.random.pick([
      { type: 'TIMER', timer: { type: 'DURATION', expression: 'PT10S' } },
      { type: 'MESSAGE', message: 'm', correlation: null },
    ] as const);
  }

  private boundary({ key, kind }: { key: string; kind: NodeKind }): string[] {
    if (!kind.endsWith('TASK') && kind !== 'SUB_PROCESS' && kind !== 'CALL_ACTIVITY') {
      return [];
    }
    const error = this.random.chance(0.4);
    const boundary = this.key('boundary');
    const event = error ? ({ type: 'ERROR', code: this.random.pick([null, 'E']) } as const) : this.event();
    this.graph.boundary(boundary, key, event, { interrupting: error || this.random.chance(0.5) });
    return [boundary];
  }

  private flowFrom(from: string, nodes: readonly { key: string }[], kind?: NodeKind): void {
    const { key } = this.random.pick(nodes);
    const isChoice = kind === 'EXCLUSIVE_GATEWAY' || kind === 'INCLUSIVE_GATEWAY';
    this.graph.flow(
      `${from} -> ${key}${isChoice ? this.random.pick([' ? a', ' ? b', ' ? !a', ' ? !b', '']) : ''}`,
    );
  }
}

function act(engine: MemoryEngine, instance: MemoryInstance, random: Random): void {
  const open = [...instance.state.tokens.values()].flatMap((token) =>
    engine.open(instance, token).map(({ svcUuid }) => ({ tokenId: token.id, svcUuid })),
  );
  const kind = random.pick(['act', 'act', 'act', 'act', 'time', 'message', 'hold']);
  if (kind === 'act' && open.length > 0) {
    const { tokenId, svcUuid } = random.pick(open);
    const body = { a: random.chance(0.5), b: random.chance(0.5) };
    engine.step(instance, { kind: 'UI_ACTION', tokenId, uiActionSvcUuid: svcUuid, body });
  } else if (kind === 'time') {
    engine.advance(random.between(1, 20) * 1_000);
  } else if (kind === 'message') {
    engine.publish('m');
    engine.messages = [];
  } else if (kind === 'hold' && instance.state.state === 'STARTED') {
    engine.step(instance, { kind: 'HOLD' });
    engine.step(instance, { kind: 'RELEASE' });
  }
}

/** @returns the number of steps until the instance ended or a fault of the graph stopped it */
function walk(random: Random): number {
  const child = new TestGraph('child')
    .start()
    .user('t', [returning('go')])
    .end()
    .flow('start -> t -> end')
    .build();
  const engine = new MemoryEngine(new RandomGraph(random).graph.build(), child);
  engine.limits = { ...LIMITS, liveTokens: 40, nodesPerStep: random.pick([5, 30]) };
  engine.workflows.set('w', () =>
    random.pick([{ output: 1 }, { errorCode: 'E' }, { output: 1, afterMs: 3_000 }]),
  );
  engine.maxJobs = 50;
  engine.afterStep = (instance) => checkInvariants(engine, instance);
  let steps = 0;
  try {
    const instance = engine.start('test', { a: random.chance(0.5), b: random.chance(0.5) });
    for (; steps < STEPS && instance.state.state === 'STARTED' && engine.incidents.length === 0; steps += 1) {
      // The jobs of an endless loop would never end.
      if (instance.state.pending.length === 0) {
        engine.run();
      }
      if (instance.state.pending.length > 0) {
        engine.jobs = [];
        engine.step(instance, { kind: 'CONTINUE' });
      } else {
        act(engine, instance, random);
      }
    }
  } catch (error) {
    if (!(error instanceof EngineIncident) && !isEndless(error)) {
      throw error;
    }
  }
  return steps;
}

/** Whether a graph loops forever, or the instance ended between reading and acting. */
function isEndless(error: unknown): boolean {
  const ended = error instanceof EngineRefusal && error.code === 'INSTANCE_NOT_STARTED';
  return ended || (error instanceof Error && error.message.includes('did not finish'));
}

describe(`random graphs (RANDOM_SEED=${SEED})`, () => {
  it('keep the invariants', () => {
    let steps = 0;
    for (let index = 0; index < GRAPHS; index += 1) {
      try {
        steps += walk(new Random(SEED * 10_000 + index));
      } catch (error) {
        const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
        throw new Error(`RANDOM_SEED=${SEED}, graph ${index}: ${message}`, { cause: error });
      }
    }
    expect(steps).toBeGreaterThan(GRAPHS * 3);
  }, 120_000);
});
