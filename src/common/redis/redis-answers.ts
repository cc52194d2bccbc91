import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../logging/log.js';
import { within } from '../within.js';
import type { RedisClient } from './redis-connections.js';

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
    let isThere = false;
    const note = (): void => {
      isThere = true;
    };
    answer.then(note, note);
    return within(this.timeoutMs, answer, async () => {
      // After a busy moment of this process the answer can be there already, unread; it goes before the error then.
      await nextTurn();
      if (!isThere) {
        this.noteSilence();
      }
      throw new Error('redis did not answer');
    });
  }

  private noteSilence(): void {
    if (!this.isSilent) {
      this.isSilent = true;
      this.log?.warn('redis does not answer: this replica goes on without it');
      const heard = (): void => {
        this.isSilent = false;
        this.log?.info('redis answers again');
      };
      // Waits for as long as it takes; a connection that was lost needs no answer.
      this.client.ping().then(heard, heard);
    }
  }
}
