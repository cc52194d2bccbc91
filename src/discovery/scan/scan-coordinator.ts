import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Metrics } from '../../platform/observability/metrics/metrics.js';
import { RedisService } from '../../platform/redis/redis.service.js';
import { within } from '../../platform/concurrency/deadline.js';
import { SingleFlight } from '../../platform/concurrency/single-flight.js';
import { DatabaseDeadlineError, DatabaseUnavailableError } from '../../store/database.errors.js';
import { ScanFailedError } from '../model/failures.js';
import { type MadeScan, ScanStore } from '../storage/scan-store.js';
import { ScanTurnsRepository } from '../storage/scan-turns.repository.js';
import { ScanEngine } from './scan-engine.js';
import type { DiscoveryResult, ScanFindings } from '../model/scan.types.js';
import { discoveryLimits } from '../discovery.limits.js';

/** Interval at which a replica checks whether the scan of another one is completed, unless it is notified first. */
const POLL_MS = 100;
/** Number of renewals within the lease time. */
const RENEWALS = 3;

/** Returns to every caller a scan that began after the call. Callers that arrive during a scan share the next one. */
@Injectable()
export class ScanCoordinator implements OnModuleDestroy {
  /** Scans that callers wait for, by the number that the scan must exceed. */
  private readonly wanted = new SingleFlight<number, DiscoveryResult>();
  /** Settles when all requested scans are done: this replica makes one after the other. */
  private last: Promise<unknown> = Promise.resolve();
  private readonly stop = new AbortController();
  /** Aborted when another replica reports that a scan has ended, and when the service stops. */
  private pause = new AbortController();

  constructor(
    private readonly turns: ScanTurnsRepository,
    private readonly store: ScanStore,
    private readonly engine: ScanEngine,
    private readonly metrics: Metrics,
    private readonly redis: RedisService,
  ) {
    redis.shared?.signals.listen('scan', () => this.pause.abort());
  }

  /**
   * Returns the result of a scan that began after this call.
   * @param requestedBy user name, stored with the scan if this call triggered it
   * @throws ScanFailedError when the database is unavailable, after `requestTimeoutMs`, and when the service stops
   */
  async scan(requestedBy: string): Promise<DiscoveryResult> {
    try {
      return await within(discoveryLimits.requestTimeoutMs, this.shared(requestedBy), () => {
        throw new ScanFailedError('DISCOVERY_TIMEOUT');
      });
    } catch (error) {
      throw error instanceof DatabaseUnavailableError || error instanceof DatabaseDeadlineError
        ? new ScanFailedError('DISCOVERY_NOT_STORED', { cause: error })
        : error;
    }
  }

  /** Ends a running scan and rejects its callers. */
  async onModuleDestroy(): Promise<void> {
    this.stop.abort();
    this.pause.abort();
    await this.last;
  }

  private async shared(requestedBy: string): Promise<DiscoveryResult> {
    const { begun: after } = await this.turns.look();
    return this.wanted.run(after, () => {
      const scan = this.last.then(() => this.obtain(after, requestedBy));
      this.last = scan.catch(() => undefined);
      return scan;
    });
  }

  /** Returns a scan with a higher number, made here or by another replica. */
  private async obtain(after: number, requestedBy: string): Promise<DiscoveryResult> {
    while (!this.stop.signal.aborted) {
      const { begun, isFree } = await this.turns.look();
      // Read after the turn, so that a scan that just ended is already stored.
      const done = await this.store.newestAfter(after);
      if (done !== null) {
        return done.result;
      }
      const holder = randomUUID();
      const isOurs = isFree && (await this.turns.claim(begun, holder, discoveryLimits.leaseMs));
      const made = isOurs ? await this.takeTurn({ number: begun + 1, holder, requestedBy }) : undefined;
      if (made !== undefined) {
        return made;
      }
      this.pause = new AbortController();
      await sleep(POLL_MS, undefined, { signal: this.pause.signal }).catch(() => undefined);
    }
    throw new ScanFailedError('DISCOVERY_STOPPED');
  }

  /** Makes a scan. Returns undefined when another replica took over. */
  private async takeTurn(turn: Omit<MadeScan, 'findings'>): Promise<DiscoveryResult | undefined> {
    const end = this.metrics.discoveryScanDuration.startTimer();
    try {
      const findings = await this.scanHolding(turn.holder);
      const result = await this.store.complete({ ...turn, findings });
      end({ outcome: 'completed' });
      return result;
    } catch (error) {
      const isLost = error instanceof ScanFailedError && error.code === 'DISCOVERY_LOST';
      end({ outcome: isLost ? 'lost' : 'failed' });
      if (isLost) {
        return undefined;
      }
      await this.turns.release(turn.holder).catch(() => undefined);
      throw error;
    } finally {
      this.redis.shared?.signals.publish('scan', String(turn.number));
    }
  }

  /** Renews the lease while the scan runs, and ends the scan when the lease is lost. */
  private async scanHolding(holder: string): Promise<ScanFindings> {
    const leaseMs = discoveryLimits.leaseMs;
    const lost = new AbortController();
    const renew = async (): Promise<void> => {
      if (!(await this.turns.renew(holder, leaseMs))) {
        lost.abort();
      }
    };
    // A failed renewal is retried; storing the scan detects a lost lease.
    const timer = setInterval(() => void renew().catch(() => undefined), leaseMs / RENEWALS);
    try {
      return await this.engine.scan(AbortSignal.any([this.stop.signal, lost.signal]));
    } catch (error) {
      throw lost.signal.aborted ? new ScanFailedError('DISCOVERY_LOST') : error;
    } finally {
      clearInterval(timer);
    }
  }
}
