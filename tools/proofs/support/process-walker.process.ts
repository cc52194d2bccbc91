import { GeneratedProcess } from '../../../packages/engine/test/support/process-generator.js';
import { Random } from '../../../packages/engine/test/support/random.js';
import { BuiltRuntime } from './built-runtime.js';
import { ComparedWalk, type WalkFigures } from './compared-walk.js';
import { ProcessRows } from './process-rows.js';

/** Work of one worker, on its own database. */
export interface WalkOrder {
  databaseUrl: string;
  /** Environment variables of the service. */
  settings: Record<string, string>;
  seed: number;
  processes: number;
  walks: number;
  /** Number of concurrent walks. */
  concurrency: number;
}

/** Result of a worker: figures, or the first violation. */
export type WalkAnswer = { figures: WalkFigures & { walks: number } } | { failure: string };

const APP = 'walks';
/** Number of BPMN files per package. */
const BATCH = 50;
/** Step counts of walks, occasionally a long one. */
const STEPS = [1, 2, 3, 3, 4, 4, 5, 12];

/**
 * Runs random walks through instances of random processes and compares them with the engine in memory. Started with fork:
 * receives one WalkOrder, sends one WalkAnswer, and ends when the parent disconnects.
 */
process.once('message', (order: WalkOrder) => {
  void serve(order).then((answer) => process.send?.(answer));
});
process.once('disconnect', () => process.exit(0));

async function serve(order: WalkOrder): Promise<WalkAnswer> {
  try {
    const worker = await Worker.open(order);
    const figures = await worker.run();
    await worker.close();
    return { figures };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

class Worker {
  private readonly figures = { walks: 0, steps: 0, backs: 0, refusals: 0 };
  private readonly processes: GeneratedProcess[];
  /** Build that contains each process. */
  private readonly builds: { appId: string; buildId: string }[] = [];
  private next = 0;

  private constructor(
    private readonly order: WalkOrder,
    private readonly runtime: BuiltRuntime,
    private readonly rows: ProcessRows,
  ) {
    this.processes = Array.from(
      { length: order.processes },
      (_, index) => new GeneratedProcess(new Random(order.seed + index), `process${index}`),
    );
  }

  static async open(order: WalkOrder): Promise<Worker> {
    const runtime = await BuiltRuntime.open(order.settings);
    if (order.databaseUrl.startsWith('sqlite:')) {
      await runtime.withoutFlush();
    }
    const worker = new Worker(order, runtime, await ProcessRows.open(order.databaseUrl));
    await worker.publish();
    return worker;
  }

  async run(): Promise<WalkFigures & { walks: number }> {
    await Promise.all(Array.from({ length: this.order.concurrency }, () => this.walkOn()));
    return this.figures;
  }

  async close(): Promise<void> {
    await this.rows.close();
    await this.runtime.close();
  }

  private async walkOn(): Promise<void> {
    while (this.next < this.order.walks) {
      const walk = this.next;
      this.next += 1;
      await this.walk(walk).catch((error: unknown) => {
        this.next = this.order.walks;
        throw new Error(`walk ${walk} of seed ${this.order.seed}: ${String(error)}`, { cause: error });
      });
    }
  }

  private async walk(index: number): Promise<void> {
    const { seed } = this.order;
    const at = index % this.processes.length;
    const process = this.processes[at];
    const build = this.builds[at];
    if (process === undefined || build === undefined) {
      throw new Error('there is no process to walk through');
    }
    const random = new Random(seed * 31 + index);
    const environment = { runtime: this.runtime, rows: this.rows, random };
    const key = { ...build, processName: process.name };
    const walk = await ComparedWalk.start(environment, key, process.decide(random));
    await walk.run(random.pick(STEPS));
    this.figures.walks += 1;
    for (const figure of ['steps', 'backs', 'refusals'] as const) {
      this.figures[figure] += walk.figures[figure];
    }
  }

  private async publish(): Promise<void> {
    for (let first = 0; first < this.processes.length; first += BATCH) {
      const batch = this.processes.slice(first, first + BATCH);
      const appId = `${APP}-${first}`;
      const models = Object.fromEntries(batch.map(({ name, xml }) => [name, xml]));
      const buildId = await this.runtime.publish(appId, models);
      this.builds.push(...batch.map(() => ({ appId, buildId })));
    }
  }
}
