import { httpLimits } from '../platform/http.limits.js';
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
/** Maximum number of unanswered writes, so that probes do not use up the connections of callers. */
const MAX_UNANSWERED = 2;

/** Decides whether this replica is ready. */
@Injectable()
export class HealthService {
  private isStopping = false;
  private obstacle: string | undefined;
  /** Random row of this replica. Replicas with the same slot share the row. */
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

  /** How other replicas differ from this one. */
  get differs(): readonly Difference[] {
    return this.replicas.now;
  }

  /** Makes the replica unready, so that load balancers remove it before its listener closes. */
  beginStop(): void {
    this.isStopping = true;
  }

  /** Returns whether there are keys to verify tokens and the database accepts a write in time, checked at most once a second. */
  async isReady(): Promise<boolean> {
    if (this.isStopping) {
      return false;
    }
    if (this.trusted.keys.ageSeconds() === undefined) {
      this.report('no signing keys of the token issuer');
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
      this.report('the database accepts no writes', error);
      return false;
    }
  }

  /** Writes the row in the same way as any write of callers, so that it fails when theirs do. */
  private async writeProof(): Promise<void> {
    this.unanswered += 1;
    try {
      const proof = { slot: this.slot, writtenAt: this.clock.now(), ...this.replicas.facts };
      await this.database.write((manager) => manager.upsert(WriteProofEntity, proof, ['slot']));
      await this.replicas.check(this.slot);
    } finally {
      this.unanswered -= 1;
    }
  }

  /** Logs changes only, because the probe is public and called often. */
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
