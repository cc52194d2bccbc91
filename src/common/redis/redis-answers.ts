import type { Log } from '../logging/log.js';
import { within } from '../within.js';
import type { RedisClient } from './redis-connections.js';

const TIMED_OUT = 'Command timed out';

/** Answers of Redis that come in time. After one that did not, nobody waits for Redis until it answers again. */
export class RedisAnswers {
  private isSilent = false;

  /**
   * @param timeoutMs longest wait for an answer
   * @param log is told once that Redis is silent, and once that it is not
   */
  constructor(
    private readonly client: RedisClient,
    private readonly timeoutMs: number,
    private readonly log?: Log,
  ) {}

  /** Whether Redis answers, as far as the connection knows. */
  get isReady(): boolean {
    return this.client.status === 'ready' && !this.isSilent;
  }

  /**
   * Sends commands, but not to a Redis that is away or silent.
   * @throws when Redis does not answer, or answers with an error
   */
  ask<T>(send: (client: RedisClient) => Promise<T>): Promise<T> {
    return this.isReady ? this.inTime(send(this.client)) : Promise.reject(new Error('redis is away'));
  }

  /**
   * Waits for what was sent.
   * @throws as `ask`
   */
  inTime<T>(answer: Promise<T>): Promise<T> {
    return within(this.timeoutMs, answer, () => {
      this.noteSilence();
      throw new Error('redis did not answer');
    });
  }

  private noteSilence(): void {
    if (!this.isSilent) {
      this.isSilent = true;
      this.log?.warn('redis does not answer: this replica goes on without it');
      void this.waitForAnswer();
    }
  }

  private async waitForAnswer(): Promise<void> {
    // A connection that was lost or closed needs no answer.
    while (this.client.status === 'ready' && !(await this.answers())) {
      // Each try takes as long as a command may.
    }
    this.isSilent = false;
    this.log?.info('redis answers again');
  }

  private async answers(): Promise<boolean> {
    try {
      await this.client.ping();
      return true;
    } catch (error) {
      return !(error instanceof Error && error.message === TIMED_OUT);
    }
  }
}
