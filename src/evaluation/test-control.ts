import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { z } from 'zod';
import { Database } from '../store/database.js';
import { JobQueueService } from '../jobs/queue/job-queue.service.js';
import { RuntimeJobEntity } from '../jobs/storage/runtime-job.entity.js';
import { parseModelScript } from './scripted-model/model-script.js';
import type { ScriptedModel } from './scripted-model/scripted-model.server.js';
import type { StillClock } from './still-clock.js';

/** Thrown for an order of a test, or of a token, that cannot be carried out. */
export class TestControlError extends Error {
  override readonly name = 'TestControlError';
}

const LOOK_MS = 5;
/** What is due that soon is due now: a job that failed is tried again without a move of the clock. */
const SOON_MS = 100;
const TIMEOUT_MAX_MS = 600_000;
const TOLD = 3;

const timeoutMs = z.int().min(1).max(TIMEOUT_MAX_MS);
const settling = z.strictObject({ timeoutMs });
const moving = z.strictObject({ to: z.iso.datetime(), timeoutMs });

/** What a test of an application asks of the evaluation server, on the socket of its tokens. */
export class TestControl {
  constructor(
    private readonly app: INestApplicationContext,
    private readonly clock: StillClock,
    private readonly model: ScriptedModel | undefined,
  ) {}

  /**
   * `POST /settle` waits until no background job is at work or due. `POST /clock` moves the clock, from one due job to the next, and
   * waits as well. `PUT /model` gives the scripted model other lines.
   * @returns what the time is then
   * @throws TestControlError, z.ZodError
   */
  async handle(method: string, path: string, body: unknown): Promise<{ now: string }> {
    switch (`${method} ${path}`) {
      case 'POST /settle':
        await this.settle(performance.now() + settling.parse(body).timeoutMs);
        break;
      case 'POST /clock':
        await this.move(moving.parse(body));
        break;
      case 'PUT /model':
        this.scriptModel(body);
        break;
      default:
        throw new TestControlError(`There is no ${method} ${path} here.`);
    }
    return { now: this.clock.now().toISOString() };
  }

  private scriptModel(script: unknown): void {
    if (this.model === undefined) {
      throw new TestControlError('There is no scripted model: LLM_BASE_URL names another.');
    }
    this.model.follow(parseModelScript(script));
  }

  /** Each timer fires at its own time, and what it leads to begins at that time. */
  private async move(order: z.output<typeof moving>): Promise<void> {
    const deadline = performance.now() + order.timeoutMs;
    const target = new Date(order.to);
    for (;;) {
      const next = await this.settle(deadline);
      if (next === undefined || next > target) {
        break;
      }
      this.moveTo(next);
    }
    this.moveTo(target);
    await this.settle(deadline);
  }

  private async settle(deadline: number): Promise<Date | undefined> {
    for (;;) {
      const jobs = await this.jobs();
      const next = jobs.find(({ lease }) => lease === null)?.availableAt;
      if (next !== undefined && next.getTime() <= this.clock.now().getTime() + SOON_MS) {
        this.moveTo(next);
      } else if (jobs.every(({ lease }) => lease === null)) {
        return next;
      }
      if (performance.now() > deadline) {
        const work = jobs.slice(0, TOLD).map(({ kind, failures }) => `${kind}, failed ${failures} times`);
        throw new TestControlError(`Background work has not ended in time: ${work.join('; ')}.`);
      }
      await pause(LOOK_MS);
    }
  }

  private moveTo(time: Date): void {
    this.clock.moveTo(time);
    this.app.get(JobQueueService).wake();
  }

  /** All that is stored, by one statement: what is done adds what comes next in the transaction that ends it. */
  private jobs(): Promise<Pick<RuntimeJobEntity, 'kind' | 'lease' | 'availableAt' | 'failures'>[]> {
    return this.app.get(Database).read((manager) =>
      manager.find(RuntimeJobEntity, {
        select: { id: true, kind: true, lease: true, availableAt: true, failures: true },
        order: { availableAt: 'ASC', id: 'ASC' },
      }),
    );
  }
}
