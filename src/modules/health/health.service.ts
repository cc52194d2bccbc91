import { Injectable } from '@nestjs/common';
import { TrustedIssuer } from '../../common/auth/trusted-issuer.js';
import { Log } from '../../common/logging/log.js';
import { Env } from '../../config/env.js';
import { Database } from '../../database/database.js';

const CACHE_MS = 1_000;

/** Whether this replica can serve. */
@Injectable()
export class HealthService {
  private isStopping = false;
  private obstacle: string | undefined;
  private last: { at: number; result: Promise<boolean> } | undefined;

  constructor(
    private readonly database: Database,
    private readonly trusted: TrustedIssuer,
    private readonly env: Env,
    private readonly log: Log,
  ) {}

  /** From now on the replica is not ready: load balancers shall take it out before its listener closes. */
  beginStop(): void {
    this.isStopping = true;
  }

  /** There are keys to check tokens with and the database answers in time; it is asked at most once a second. */
  async isReady(): Promise<boolean> {
    if (this.isStopping) {
      return false;
    }
    if (this.trusted.keys.ageSeconds() === undefined) {
      this.report('there are no signing keys of the token issuer');
      return false;
    }
    const now = performance.now();
    if (this.last === undefined || now - this.last.at > CACHE_MS) {
      this.last = { at: now, result: this.databaseAnswers() };
    }
    return this.last.result;
  }

  private async databaseAnswers(): Promise<boolean> {
    try {
      await this.withDeadline(this.database.read((manager) => manager.query('SELECT 1')));
      this.report(undefined);
      return true;
    } catch (error) {
      this.report('the database does not answer', error);
      return false;
    }
  }

  /** Logs changes only: anybody may ask, as often as they like. */
  private report(obstacle: string | undefined, error?: unknown): void {
    if (obstacle === this.obstacle) {
      return;
    }
    this.obstacle = obstacle;
    if (obstacle === undefined) {
      this.log.info('ready');
    } else if (error === undefined) {
      this.log.warn('not ready', { reason: obstacle });
    } else {
      this.log.error('not ready', error, { reason: obstacle });
    }
  }

  private async withDeadline(work: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('deadline')), this.env.get('READINESS_TIMEOUT_MS'));
    });
    try {
      await Promise.race([work, deadline]);
    } finally {
      clearTimeout(timer);
    }
  }
}
