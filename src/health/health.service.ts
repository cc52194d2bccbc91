import { httpLimits } from '../platform/http/http.limits.js';
import { within } from '../platform/concurrency/deadline.js';
import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import { TrustedIssuer } from '../platform/auth/trusted-issuer.js';
import { Log } from '../platform/observability/logging/log.js';
import { Database } from '../store/database.js';
import { PROOF_SLOTS, WriteProofEntity } from '../store/write-proof.entity.js';
import { ReplicaDifferences, type Difference } from './replica-differences.js';

const CACHE_MS = 1_000;
/** How many writes may be without an answer before no more of them take connections from callers. */
const MAX_UNANSWERED = 2;

/** Whether this replica can serve. */
@Injectable()
export class HealthService {
  private isStopping = false;
  private obstacle: string | undefined;
  /** A row for this replica; another one that has the same by chance writes it as well. */
  private readonly slot = randomInt(PROOF_SLOTS);
  private unanswered = 0;
  private last: { at: number; result: Promise<boolean> } | undefined;

  constructor(
    private readonly database: Database,
    private readonly trusted: TrustedIssuer,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly replicas: ReplicaDifferences,
  ) {}

  /** In what other replicas differ from this one. */
  get differs(): readonly Difference[] {
    return this.replicas.now;
  }

  /** From now on the replica is not ready: load balancers shall take it out before its listener closes. */
  beginStop(): void {
    this.isStopping = true;
  }

  /** Whether there are keys to check tokens with, and the database takes a write in time; it is asked at most once a second. */
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
      this.last = { at: now, result: this.databaseTakesWrites() };
    }
    return this.last.result;
  }

  private async databaseTakesWrites(): Promise<boolean> {
    if (this.unanswered >= MAX_UNANSWERED) {
      return false;
    }
    try {
      await within(httpLimits.readinessTimeoutMs, this.writeProof(), () => {
        throw new Error('deadline');
      });
      this.report(undefined);
      return true;
    } catch (error) {
      this.report('the database takes no writes', error);
      return false;
    }
  }

  /** A write like any other: whatever keeps those of callers from being stored keeps this one too. */
  private async writeProof(): Promise<void> {
    this.unanswered += 1;
    try {
      const proof = { slot: this.slot, writtenAt: this.clock.now(), ...this.replicas.facts };
      await this.database.write((manager) => manager.upsert(WriteProofEntity, proof, ['slot']));
      await this.replicas.look(this.slot);
    } finally {
      this.unanswered -= 1;
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
}
