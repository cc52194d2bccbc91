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

/** Statistics of one walk. */
export interface WalkFigures {
  steps: number;
  backs: number;
  refusals: number;
}

/** A UI action as named by a caller. */
interface Move {
  token: TokenState;
  svcUuid: string;
}

/**
 * Executes one instance twice with the same commands: in the database through the services, and in memory through the
 * engine alone. After every step the rows, read over another connection, must match the state in memory.
 */
export class ComparedWalk {
  readonly figures: WalkFigures = { steps: 0, backs: 0, refusals: 0 };
  private expected: InstanceState;
  /** All tokens, including ended ones. */
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

  /** Starts the instance and executes its first step. */
  static async start(
    environment: { runtime: BuiltRuntime; rows: ProcessRows; random: Random },
    process: { appId: string; buildId: string; processName: string },
    data: JsonObject,
  ): Promise<ComparedWalk> {
    const { runtime, rows, random } = environment;
    const { uuid } = await runtime.start(process, data);
    const walk = new ComparedWalk(runtime, rows, random, await reload(rows, uuid));
    const startNode = walk.stored.definition.graph.starts[0] ?? 0;
    walk.compare(walk.execute({ kind: 'START', startNode, data: structuredClone(data) }));
    return walk;
  }

  /** Executes up to `steps` steps, or until the instance has ended. */
  async run(steps: number): Promise<void> {
    for (let taken = 0; taken < steps && this.expected.state === 'STARTED'; taken += 1) {
      await (this.random.chance(0.1) ? this.tryAnything() : this.take(this.pickOpenMove()));
    }
  }

  /** Returns an action that is open according to the engine in memory, sometimes a back action. */
  private pickOpenMove(): Move {
    const moves = [...this.expected.tokens.values()].flatMap((token) =>
      openUiActions(this.stored.definition, this.expected, token).map((open) => ({ token, ...open })),
    );
    const backs = moves.filter(({ back }) => back);
    const forward = moves.filter(({ back }) => !back);
    prove(forward.length > 0, 'no action is open');
    return this.random.pick(backs.length > 0 && this.random.chance(0.3) ? backs : forward);
  }

  /** Executes a random action on a random token, ended ones included. Most are rejected. */
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
    this.stored = await reload(this.rows, uuid);
    const command = { kind: 'UI_ACTION', tokenId: token.id, uiActionSvcUuid: svcUuid, body } as const;
    const result = this.tryExecute(command);
    if (result instanceof EngineRefusal) {
      prove(
        answer === result.code,
        `the engine rejects with ${result.code}, the service returns ${formatAnswer(answer)}`,
      );
      prove(this.stored.row.rev === before.row.rev, 'a rejected action changed the instance');
      this.figures.refusals += 1;
    } else {
      prove(
        typeof answer === 'object',
        `the service rejects with ${formatAnswer(answer)}, the engine does not`,
      );
      this.compare(result);
      this.compareAnswer(answer, result);
    }
  }

  private tryExecute(command: EngineCommand): StepResult | EngineRefusal {
    try {
      return this.execute(command);
    } catch (error) {
      if (error instanceof EngineRefusal) {
        return error;
      }
      throw error;
    }
  }

  /** Executes the step in memory, with the time and token ids of the step in the database. */
  private execute(command: EngineCommand): StepResult {
    const { row, events, tokens } = this.stored;
    const added = events
      .filter(({ seq, kind }) => seq > this.expected.seq && kind === 'TOKEN_CREATED')
      .map(({ tokenId }) => tokens.get(tokenId ?? -1));
    return step(this.stored.definition, this.expected, command, {
      now: row.modifiedAt.getTime(),
      newToken: () => {
        const token = added.shift();
        prove(token !== undefined, 'the step in the database created fewer tokens than the one in memory');
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
    expectEqual('state', comparable(this.stored.state), throughJson(comparable(this.expected)));
    expectEqual('audit trail', this.stored.events.slice(seq), throughJson(result.events));
    expectEqual('tokens', tokensInOrder(this.stored.tokens), throughJson(tokensInOrder(this.tokens)));
    expectEqual('jobs', this.stored.jobs.length, result.jobs.length);
    checkRows(this.stored);
  }

  private compareAnswer(answer: UiActionResponseDto, { action }: StepResult): void {
    const node = this.stored.definition.node(action?.node ?? -1);
    const token = this.tokens.get(action?.tokenId ?? -1);
    expectEqual('answer', answer, {
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

async function reload(rows: ProcessRows, uuid: string): Promise<StoredInstance> {
  const [stored] = await rows.instances(uuid);
  prove(stored !== undefined, `instance ${uuid} was acknowledged but is not stored`);
  return stored;
}

/** Returns the error code of a rejection by the service. Rethrows any other error. */
function refusalOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') {
    throw error;
  }
  return code;
}

function formatAnswer(answer: UiActionResponseDto | string): string {
  return typeof answer === 'string' ? answer : JSON.stringify(answer);
}

/** Returns a state in comparable form. Row versions are reset, since only rows have them. */
function comparable(state: InstanceState): object {
  return { ...state, tokens: tokensInOrder(state.tokens) };
}

function tokensInOrder(tokens: ReadonlyMap<number, TokenState>): TokenState[] {
  const sorted = [...tokens.values()].toSorted((one, other) => one.id - other.id);
  return sorted.map((token) => ({ ...token, rev: 0 }));
}

/** Returns a value as it would be read from the database. */
function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function expectEqual(what: string, stored: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(stored, expected)) {
    const texts = [stored, expected].map((value) => JSON.stringify(value));
    prove(false, `the ${what} in the database differs from that in memory:\n${texts.join('\n')}`);
  }
}
