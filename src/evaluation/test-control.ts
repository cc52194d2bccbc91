import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { z } from 'zod';
import { Database } from '../store/database.js';
import { JobQueueService } from '../jobs/queue/job-queue.service.js';
import { RuntimeJobEntity } from '../jobs/storage/runtime-job.entity.js';
import { parseModelScript } from './scripted-model/model-script.js';
import type { ScriptedModel } from './scripted-model/scripted-model.server.js';
import type { StillClock } from './still-clock.js';

/** Thrown for a request of a test, or for a token, that cannot be fulfilled. */
export class TestControlError extends Error {
  override readonly name = 'TestControlError';
}

const LOOK_MS = 5;
/** Jobs due within this time count as due, so that failed jobs are retried without moving the clock. */
const SOON_MS = 100;
const TIMEOUT_MAX_MS = 600_000;
const MAX_REPORTED = 3;

const timeoutMs = z.int().min(1).max(TIMEOUT_MAX_MS);
const settling = z.strictObject({ timeoutMs });
const moving = z.strictObject({ to: z.iso.datetime(), timeoutMs });

/** Handles requests of application tests on the token socket of the evaluation server. */
export class TestControl {
  constructor(
    private readonly app: INestApplicationContext,
    private readonly clock: StillClock,
    private readonly model: ScriptedModel | undefined,
  ) {}

  /**
   * Handles a request. `POST /settle` waits until no background job is running or due. `POST /clock` moves the clock from one due job to
   * the next, and waits too. `PUT /model` replaces the script of the model.
   * @returns the time afterwards
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
        throw new TestControlError(`Unknown route: ${method} ${path}.`);
    }
    return { now: this.clock.now().toISOString() };
  }

  private scriptModel(script: unknown): void {
    if (this.model === undefined) {
      throw new TestControlError('There is no scripted model, because LLM_BASE_URL is set.');
    }
    this.model.follow(parseModelScript(script));
  }

  /** Moves the clock step by step, so that each timer fires, and its consequences begin, at its own time. */
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
        const work = jobs
          .slice(0, MAX_REPORTED)
          .map(({ kind, failures }) => `${kind}, failed ${failures} times`);
        throw new TestControlError(`Background work did not end in time: ${work.join('; ')}.`);
      }
      await pause(LOOK_MS);
    }
  }

  private moveTo(time: Date): void {
    this.clock.moveTo(time);
    this.app.get(JobQueueService).wake();
  }

  /** Reads all jobs with one statement. A job adds its successors in the transaction that completes it, so none is missed. */
  private jobs(): Promise<Pick<RuntimeJobEntity, 'kind' | 'lease' | 'availableAt' | 'failures'>[]> {
    return this.app.get(Database).read((manager) =>
      manager.find(RuntimeJobEntity, {
        select: { id: true, kind: true, lease: true, availableAt: true, failures: true },
        order: { availableAt: 'ASC', id: 'ASC' },
      }),
    );
  }
}
