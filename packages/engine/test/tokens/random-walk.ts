import type { TokenState } from '../../src/tokens/state/engine.types.js';
import type { RuntimeDefinition } from '../../src/tokens/state/runtime-definition.js';
import { checkInvariants } from '../support/invariants.js';
import { LIMITS, MemoryEngine, trace, type MemoryInstance } from '../support/memory-engine.js';
import type { Decisions } from '../support/process-generator.js';
import type { Random } from '../support/random.js';

const MOST_STEPS = 2_000;

/** Runs one instance to its end with random actions, sometimes going back, and checks the invariants after each step. */
export class RandomWalk {
  private readonly engine: MemoryEngine;
  private readonly instance: MemoryInstance;
  /** Number of times that it may still go back. */
  private backs: number;
  steps = 0;

  constructor(
    definition: RuntimeDefinition,
    decisions: Decisions,
    private readonly random: Random,
    options: { readonly backs: number },
  ) {
    this.backs = options.backs;
    this.engine = new MemoryEngine(definition);
    this.engine.serializesState = random.chance(0.1);
    this.engine.limits = { ...LIMITS, nodesPerStep: random.pick([1, 3, 10, 200]) };
    this.engine.afterStep = (instance) => checkInvariants(this.engine, instance);
    this.instance = this.engine.start(definition.graph.name, decisions);
    this.engine.run();
  }

  /** @returns sorted ids of the visited user tasks */
  run(): string[] {
    while (this.instance.state.state !== 'FINISHED') {
      this.steps += 1;
      if (this.steps > MOST_STEPS) {
        throw new Error('The instance did not end.');
      }
      this.act();
    }
    if (this.engine.incidents.length > 0 || this.engine.jobs.length > 0 || this.engine.waits.length > 0) {
      throw new Error(
        `Something is left: ${JSON.stringify([this.engine.incidents, this.engine.jobs, this.engine.waits])}`,
      );
    }
    return trace(this.instance, 'USER_TASK').toSorted();
  }

  private act(): void {
    const tokens = [...this.instance.state.tokens.values()].filter(({ state }) => state === 'ACTIVE');
    const open = tokens.flatMap((token) =>
      this.engine.open(this.instance, token).map((action) => ({ token, ...action })),
    );
    const back = open.filter((action) => action.back);
    const forward = open.filter((action) => !action.back);
    const choices = this.backs > 0 && back.length > 0 && this.random.chance(0.3) ? back : forward;
    if (choices.length === 0) {
      throw new Error(`No action is possible: ${this.where(tokens)}`);
    }
    const { token, svcUuid, back: isBack } = this.random.pick(choices);
    this.backs -= isBack ? 1 : 0;
    const { action } = this.engine.step(this.instance, {
      kind: 'UI_ACTION',
      tokenId: token.id,
      uiActionSvcUuid: svcUuid,
      body: {},
    });
    if (action?.back !== isBack) {
      throw new Error('An action did not do what the list of open ones says.');
    }
    this.engine.run();
  }

  private where(tokens: readonly TokenState[]): string {
    return tokens.map(({ node }) => this.instance.definition.node(node).key).join(', ');
  }
}
