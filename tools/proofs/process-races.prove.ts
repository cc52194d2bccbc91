import {
  checkRows,
  count,
  entries,
  activeTokens,
  ProcessRows,
  type StoredInstance,
} from './support/process-rows.js';
import { firstPlace, ProcessClient, type Place, type Reply } from './support/process-client.js';
import { APPROVAL, RETURNING, type UserTask } from './support/process-models.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';

const CALLERS = 10;
/** Callers of each of the two parallel branches. */
const BRANCH_CALLERS = 3;
const REPLICAS = 2;
/** Instances that each round starts: one approval, and one per kind of double click. */
const ROUND_INSTANCES = 3;

export const proof: Proof = {
  name: 'process-races',
  claim:
    'identical concurrent starts, identical UI actions and two branches that reach their join simultaneously each take effect once on two replicas, and identical UI actions never go back',
  databases: ['mariadb', 'mysql'],
  shortDatabases: ['mysql'],
  async run(environment) {
    const rounds = environment.short ? 6 : 300;
    const databaseUrl = await environment.emptyDatabase();
    const { clients, others } = await replicas(environment, databaseUrl);
    const build = await clients[0]!.publish({ approval: APPROVAL, returning: RETURNING });
    const rows = await ProcessRows.open(databaseUrl);
    const deadlocks = await rows.deadlocks();
    const race = new Race(clients, rows, build);
    for (let round = 0; round < rounds; round += 1) {
      await race.round(round);
      await race.doubleClicks(round, clients);
      await race.doubleClicks(round, [clients[0]!, others[1]!]);
    }
    const stored = await rows.instances();
    prove(
      stored.length === ROUND_INSTANCES * rounds,
      `${stored.length} instances stored instead of ${ROUND_INSTANCES * rounds}`,
    );
    const resolved = (await rows.deadlocks()) - deadlocks;
    await Promise.all([...[...clients, ...others].map((client) => client.close()), rows.close()]);
    return (
      `${rounds} rounds on ${REPLICAS} replicas: ${rounds} starts for ${rounds * CALLERS} calls, ` +
      `${race.accepted} UI actions, ${race.refused} x 409, ${race.repeated} repeated responses, 0 back actions, ` +
      `0 x 5xx; ${resolved} deadlocks on the server, none visible to a caller`
    );
  },
};

/** Starts the replicas, with two callers each. The second one may act in instances that the first one started. */
async function replicas(
  environment: ProofEnvironment,
  databaseUrl: string,
): Promise<{ clients: ProcessClient[]; others: ProcessClient[] }> {
  const token = await environment.token();
  const other = await environment.token({ sub: 'other' });
  const services = await Promise.all(
    Array.from({ length: REPLICAS }, () =>
      environment.startService(databaseUrl, { PROCESS_UI_ACTION_ACCESS: 'any-token' }),
    ),
  );
  return {
    clients: services.map(({ url }) => new ProcessClient(url, token)),
    others: services.map(({ url }) => new ProcessClient(url, other)),
  };
}

/** Rounds in which callers send identical requests simultaneously. */
class Race {
  accepted = 0;
  refused = 0;
  repeated = 0;

  constructor(
    private readonly clients: readonly ProcessClient[],
    private readonly rows: ProcessRows,
    private readonly build: string,
  ) {}

  async round(round: number): Promise<void> {
    const place = await this.sendStarts(round);
    const winner = await this.sendActions(place);
    await this.sendBranches(place);
    const stored = await this.sendLastAction(place, round);
    prove(stored.row.state === 'FINISHED', `round ${round} left an instance that is ${stored.row.state}`);
    prove(count(stored, 'ACTION_EXECUTED') === 4, `round ${round} did not execute exactly 4 actions`);
    prove(stored.state.data['apply'] === winner, `round ${round} stored data of a rejected caller`);
  }

  /** Sends the same UI action with a return point ten times without a key: one step forward, none back. */
  async doubleClicks(round: number, callers: readonly ProcessClient[]): Promise<void> {
    const place = firstPlace(await callers[0]!.start(this.build, 'returning', { round }));
    const replies = await this.together(
      CALLERS,
      (client) => client.act(place, 'enter', { enter: round }),
      callers,
    );
    const accepted = replies.filter(({ status }) => status === 200);
    const refused = replies.filter(({ status }) => status === 409);
    prove(
      accepted.length > 0 && accepted.length + refused.length === CALLERS && distinct(accepted) === 1,
      `round ${round}: a double click was answered ${statuses(replies)}, with ${distinct(accepted)} bodies`,
    );
    prove(accepted[0]?.body['backAction'] === false, `round ${round}: a double click went back`);
    const stored = await this.stored(place);
    prove(
      count(stored, 'ACTION_EXECUTED') === 1 &&
        entries(stored, 'enter') === 1 &&
        entries(stored, 'confirm') === 1,
      `round ${round}: a double click had more than one effect`,
    );
    this.accepted += 1;
    this.refused += refused.length;
    this.repeated += accepted.length - 1;
  }

  /** Sends ten identical starts with one key: one instance, ten identical responses. */
  private async sendStarts(round: number): Promise<Place> {
    const replies = await this.together(CALLERS, (client) =>
      client.start(this.build, 'approval', { round }, `start-${round}`),
    );
    const [first] = replies;
    prove(
      first !== undefined && replies.every(({ status, text }) => status === 200 && text === first.text),
      `round ${round}: identical starts were answered ${statuses(replies)}, with ${distinct(replies)} bodies`,
    );
    this.repeated += CALLERS - 1;
    return firstPlace(first);
  }

  /**
   * Sends the same UI action on one token ten times without a key.
   * @returns index of the caller whose request was accepted
   */
  private async sendActions(place: Place): Promise<number> {
    const lost = await this.clients[0]!.act(place, 'apply', { apply: -1, left: 'not allowed here' });
    prove(lost.status === 400, `input outside the action's keys was answered ${lost.status}`);
    const replies = await this.together(CALLERS, (client, caller) =>
      client.act(place, 'apply', { apply: caller }),
    );
    this.checkOneAccepted('apply', replies);
    const stored = await this.stored(place);
    prove(entries(stored, 'split') === 1, 'one action reached the next node more than once');
    prove(!Object.hasOwn(stored.state.data, 'left'), "data outside the action's keys was stored");
    return replies.findIndex(({ status }) => status === 200);
  }

  /** Sends the actions of both branches simultaneously, each several times. */
  private async sendBranches(place: Place): Promise<void> {
    const tokens = activeTokens(await this.stored(place));
    prove(tokens.size === 2, `${tokens.size} tokens after the fork`);
    const replies = await this.together(2 * BRANCH_CALLERS, (client, caller) => {
      const task = branchOf(caller);
      return client.act({ ...place, token: tokens.get(task) ?? '' }, task, { [task]: caller });
    });
    this.checkOneAccepted(
      'left',
      replies.filter((_, caller) => branchOf(caller) === 'left'),
    );
    this.checkOneAccepted(
      'right',
      replies.filter((_, caller) => branchOf(caller) === 'right'),
    );
    const stored = await this.stored(place);
    prove(entries(stored, 'sign') === 1, `the join fired ${entries(stored, 'sign')} times`);
    prove(stored.state.tokens.size === 1, `${stored.state.tokens.size} tokens remain after the join`);
  }

  /** Sends the last UI action ten times with one key: executed once, ten identical responses. */
  private async sendLastAction(place: Place, round: number): Promise<StoredInstance> {
    const token = activeTokens(await this.stored(place)).get('sign') ?? '';
    const replies = await this.together(CALLERS, (client) =>
      client.act({ ...place, token }, 'sign', { sign: round }, `sign-${round}`),
    );
    prove(
      replies.every(({ status, text }) => status === 200 && text === replies[0]?.text),
      `round ${round}: identical actions with a key were answered ${statuses(replies)}`,
    );
    this.accepted += 1;
    this.repeated += CALLERS - 1;
    return this.stored(place);
  }

  /** Proves that one caller got 200 and all others 409. */
  private checkOneAccepted(task: UserTask, replies: readonly Reply[]): void {
    const accepted = replies.filter(({ status }) => status === 200).length;
    const refused = replies.filter(({ status }) => status === 409).length;
    prove(
      accepted === 1 && accepted + refused === replies.length,
      `${replies.length} identical actions ${task} were answered ${statuses(replies)}`,
    );
    this.accepted += accepted;
    this.refused += refused;
  }

  private async stored({ process }: Place): Promise<StoredInstance> {
    const [stored, ...others] = await this.rows.instances(process);
    prove(stored !== undefined && others.length === 0, `instance ${process} is not stored once`);
    checkRows(stored);
    return stored;
  }

  /** Sends requests simultaneously, distributed over the replicas. */
  private together(
    callers: number,
    call: (client: ProcessClient, caller: number) => Promise<Reply>,
    clients = this.clients,
  ): Promise<Reply[]> {
    return Promise.all(
      Array.from({ length: callers }, (_, caller) => call(clients[caller % REPLICAS]!, caller)),
    );
  }
}

/** Assigns callers to branches so that both branches reach both replicas. */
function branchOf(caller: number): 'left' | 'right' {
  return caller % 4 < 2 ? 'left' : 'right';
}

function statuses(replies: readonly Reply[]): string {
  const bad = replies.find(({ status }) => status >= 500);
  return `${replies.map(({ status }) => status).join(' ')}${bad === undefined ? '' : `: ${bad.text}`}`;
}

function distinct(replies: readonly Reply[]): number {
  return new Set(replies.map(({ text }) => text)).size;
}
