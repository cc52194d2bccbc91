import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#engine/json';
import {
  EngineRefusal,
  type EngineCommand,
  type InstanceState,
  type StepResult,
  type TokenState,
  newInstance,
  openUiActions,
  step,
} from '#engine/tokens';
import type { UiActionResponseDto } from '../../../src/runtime/ui-actions/ui-action.dto.js';
import { LIMITS } from '../../../packages/engine/test/support/memory-engine.js';
import type { Random } from '../../../packages/engine/test/support/random.js';
import type { BuiltRuntime } from './built-runtime.js';
import { checkRows, type ProcessRows, type StoredInstance } from './process-rows.js';
import { prove } from './proof.js';

const TEXTS = ['', 'plain', 'Käse', '💥', '\ud800', 'a'.repeat(300), '${x}', "' OR 1=1 --"];

/** What the walk of one instance was made of. */
export interface WalkFigures {
  steps: number;
  backs: number;
  refusals: number;
}

/** A UI action as a caller would name it. */
interface Move {
  token: TokenState;
  svcUuid: string;
}

/**
 * One instance that goes its way twice: on rows, by the services, and in memory, by the engine alone with the same commands.
 * After every step the rows, read again over another connection, must tell exactly what the engine in memory says.
 */
export class ComparedWalk {
  readonly figures: WalkFigures = { steps: 0, backs: 0, refusals: 0 };
  private expected: InstanceState;
  /** Every token that ever was. */
  private readonly tokens = new Map<number, TokenState>();

  private constructor(
    private readonly runtime: BuiltRuntime,
    private readonly rows: ProcessRows,
    private readonly random: Random,
    private stored: StoredInstance,
  ) {
    const { id, uuid } = stored.row;
    this.expected = newInstance({ id, uuid, parentUuid: null });
  }

  /** Starts the instance and takes its first step. */
  static async start(
    surroundings: { runtime: BuiltRuntime; rows: ProcessRows; random: Random },
    process: { appId: string; buildId: string; processName: string },
    data: JsonObject,
  ): Promise<ComparedWalk> {
    const { runtime, rows, random } = surroundings;
    const { uuid } = await runtime.start(process, data);
    const walk = new ComparedWalk(runtime, rows, random, await reloaded(rows, uuid));
    const startNode = walk.stored.definition.graph.starts[0] ?? 0;
    walk.compare(walk.make({ kind: 'START', startNode, data: structuredClone(data) }));
    return walk;
  }

  /** Goes on for so many steps, or until the instance has ended. */
  async run(steps: number): Promise<void> {
    for (let taken = 0; taken < steps && this.expected.state === 'STARTED'; taken += 1) {
      await (this.random.chance(0.1) ? this.tryAnything() : this.take(this.openMove()));
    }
  }

  /** An action that the engine in memory says is open, now and then one that leads back. */
  private openMove(): Move {
    const moves = [...this.expected.tokens.values()].flatMap((token) =>
      openUiActions(this.stored.definition, this.expected, token).map((open) => ({ token, ...open })),
    );
    const backs = moves.filter(({ back }) => back);
    const forward = moves.filter(({ back }) => !back);
    prove(forward.length > 0, 'nobody can do anything');
    return this.random.pick(backs.length > 0 && this.random.chance(0.3) ? backs : forward);
  }

  /** Any action of the process on any token that ever was; most of them are refused. */
  private async tryAnything(): Promise<void> {
    const token = this.random.pick([...this.tokens.values()]);
    const uiActions = this.stored.definition.graph.nodes.flatMap((node) => node.uiActions);
    await this.take({ token, svcUuid: this.random.pick(uiActions).svcUuid });
  }

  private async take({ token, svcUuid }: Move): Promise<void> {
    const body = this.body();
    const { uuid } = this.stored.row;
    const answer = await this.runtime.execute(uuid, token.uuid, svcUuid, body).catch(refusalOf);
    const before = this.stored;
    this.stored = await reloaded(this.rows, uuid);
    const command = { kind: 'UI_ACTION', tokenId: token.id, uiActionSvcUuid: svcUuid, body } as const;
    const result = this.refusedOrMade(command);
    if (result instanceof EngineRefusal) {
      prove(answer === result.code, `the engine refuses with ${result.code}, the service ${told(answer)}`);
      prove(this.stored.row.rev === before.row.rev, 'a refused action has changed the instance');
      this.figures.refusals += 1;
    } else {
      prove(typeof answer === 'object', `the service refuses with ${told(answer)}, the engine does not`);
      this.compare(result);
      this.compareAnswer(answer, result);
    }
  }

  private refusedOrMade(command: EngineCommand): StepResult | EngineRefusal {
    try {
      return this.make(command);
    } catch (error) {
      if (error instanceof EngineRefusal) {
        return error;
      }
      throw error;
    }
  }

  /** The step in memory, with the time and the token ids that the one on rows had. */
  private make(command: EngineCommand): StepResult {
    const { row, events, tokens } = this.stored;
    const added = events
      .filter(({ seq, kind }) => seq > this.expected.seq && kind === 'TOKEN_CREATED')
      .map(({ tokenId }) => tokens.get(tokenId ?? -1));
    return step(this.stored.definition, this.expected, command, {
      now: row.modifiedAt.getTime(),
      newToken: () => {
        const token = added.shift();
        prove(token !== undefined, 'the step on rows has made fewer tokens than the one in memory');
        return { id: token.id, uuid: token.uuid };
      },
      limits: LIMITS,
    });
  }

  private compare(result: StepResult): void {
    const { seq } = this.expected;
    this.expected = result.instance;
    result.changedTokens.forEach((token) => this.tokens.set(token.id, token));
    this.figures.steps += 1;
    this.figures.backs += Number(result.action?.back === true);
    equal('state', inOrder(this.stored.state), throughJson(inOrder(this.expected)));
    equal('audit trail', this.stored.events.slice(seq), throughJson(result.events));
    equal('tokens', tokensInOrder(this.stored.tokens), throughJson(tokensInOrder(this.tokens)));
    equal('jobs', this.stored.jobs.length, result.jobs.length);
    checkRows(this.stored);
  }

  private compareAnswer(answer: UiActionResponseDto, { action }: StepResult): void {
    const node = this.stored.definition.node(action?.node ?? -1);
    const token = this.tokens.get(action?.tokenId ?? -1);
    equal('answer', answer, {
      tokenUuid: token?.uuid,
      currentNodeId: node.id,
      templatesSequence: null,
      backAction: action?.back,
      resetToken: action?.back,
    });
  }

  private body(): JsonObject {
    return this.random.chance(0.5)
      ? {}
      : {
          form: {
            text: this.random.pick(TEXTS),
            number: this.random.next(),
            list: [this.random.between(0, 9), null],
          },
        };
  }
}

async function reloaded(rows: ProcessRows, uuid: string): Promise<StoredInstance> {
  const [stored] = await rows.instances(uuid);
  prove(stored !== undefined, `instance ${uuid} was acknowledged and is not stored`);
  return stored;
}

/** The code that a refusal of the service carries; whatever else failed is thrown again. */
function refusalOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') {
    throw error;
  }
  return code;
}

function told(answer: UiActionResponseDto | string): string {
  return typeof answer === 'string' ? answer : JSON.stringify(answer);
}

/** A state as values that can be compared; row versions are of rows only. */
function inOrder(state: InstanceState): object {
  return { ...state, tokens: tokensInOrder(state.tokens) };
}

function tokensInOrder(tokens: ReadonlyMap<number, TokenState>): TokenState[] {
  const sorted = [...tokens.values()].toSorted((one, other) => one.id - other.id);
  return sorted.map((token) => ({ ...token, rev: 0 }));
}

/** What is left of a value in a database. */
function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function equal(what: string, stored: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(stored, expected)) {
    const told = [stored, expected].map((value) => JSON.stringify(value));
    prove(false, `the ${what} on rows is not that in memory:\n${told.join('\n')}`);
  }
}
