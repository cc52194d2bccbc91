import { runCallers, type Calls } from '../callers.js';
import { figure, median, printTable } from '../table.js';

/** An instance that waits at a user task. */
export interface StartedInstance {
  act?(): Promise<unknown>;
  /** Alternative to `act`: looks up what the action needs before UI actions are measured. */
  prepare?(): Promise<() => Promise<unknown>>;
  /** Undefined if the contender cannot read a single instance. */
  read?(): Promise<unknown>;
}

/** An engine, or a baseline, that starts instances and continues them. */
export interface Contender {
  name: string;
  /** Id of the process that does the work. */
  pid: number;
  callers: readonly number[];
  start(index: number): Promise<StartedInstance>;
}

/** Results of one contender with one number of callers in one round. */
export interface Turn {
  start: Calls;
  read?: Calls;
  action: Calls;
}

/** Turns of all rounds, by contender and number of callers. */
export type Turns = Map<Contender, Map<number, Turn[]>>;

const TITLES = {
  start: 'starts of a process',
  action: 'UI actions (completion of the user task)',
  read: 'reads of one instance',
} as const;

/** Duration and number of measurements. */
export interface TurnPlan {
  rounds: number;
  /** Duration of one phase: starts, reads or UI actions. */
  seconds: number;
  /** Duration of each phase before the first round. */
  warmUpSeconds: number;
  databasePid: number | undefined;
}

/** Measures contenders alternately, round by round, after a warm-up turn each. The first contender is the service. */
export async function takeTurns(contenders: readonly Contender[], plan: TurnPlan): Promise<Turns> {
  const turns: Turns = new Map(contenders.map((contender) => [contender, new Map<number, Turn[]>()]));
  for (const contender of contenders) {
    await takeTurn(contender, Math.max(...contender.callers), { ...plan, seconds: plan.warmUpSeconds });
  }
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const callers of new Set(contenders.flatMap((contender) => contender.callers))) {
      for (const contender of contenders.filter((one) => one.callers.includes(callers))) {
        const own = turns.get(contender) ?? new Map<number, Turn[]>();
        own.set(callers, [...(own.get(callers) ?? []), await takeTurn(contender, callers, plan)]);
      }
    }
  }
  return turns;
}

async function takeTurn(
  contender: Contender,
  callers: number,
  { seconds, databasePid }: TurnPlan,
): Promise<Turn> {
  const started: StartedInstance[] = [];
  const watched = { pid: contender.pid, databasePid };
  const start = await runCallers(
    callers,
    { seconds },
    async (index) => {
      started[index] = await contender.start(index);
    },
    watched,
  );
  const read =
    started[0]?.read &&
    (await runCallers(callers, { seconds }, (index) => started[index % started.length]!.read!(), watched));
  const acts: (() => Promise<unknown>)[] = [];
  await runCallers(callers, { count: started.length }, async (index) => {
    const one = started[index]!;
    acts[index] = (await one.prepare?.()) ?? (() => one.act!());
  });
  const action = await runCallers(
    callers,
    { seconds, count: started.length },
    (index) => acts[index]!(),
    watched,
  );
  return { start, action, ...(read && { read }) };
}

/** Prints a table for each kind of work. */
export function printTurns(turns: Turns): void {
  const [subject = new Map<number, Turn[]>()] = turns.values();
  for (const kind of ['start', 'action', 'read'] as const) {
    const rows = [...subject.keys()].flatMap((callers) =>
      [...turns].flatMap(([{ name }, own]) => {
        const rounds = (own.get(callers) ?? []).flatMap((turn) => turn[kind] ?? []);
        return rounds.length === 0
          ? []
          : [
              [
                name,
                String(callers),
                ...figuresOf(
                  rounds,
                  (subject.get(callers) ?? []).map((turn) => turn[kind]),
                ),
              ],
            ];
      }),
    );
    printTable(
      `${TITLES[kind]}; CPU µs is the processor time per operation in the named process, database µs that in the database server`,
      ['', 'callers', 'a second', 'p50 ms', 'p99 ms', 'CPU µs', 'database µs', 'service / peer'],
      rows,
    );
  }
}

function figuresOf(rounds: readonly Calls[], subject: readonly (Calls | undefined)[]): string[] {
  const middle = (key: keyof Calls, digits: number): string =>
    figure(median(rounds.map((round) => round[key])), digits);
  const ratios = rounds.map(({ perSecond }, round) => (subject[round]?.perSecond ?? Number.NaN) / perSecond);
  return [
    middle('perSecond', 0),
    middle('p50', 1),
    middle('p99', 1),
    middle('cpu', 0),
    middle('databaseCpu', 0),
    figure(median(ratios), 2),
  ];
}
