import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Metrics } from '../../platform/observability/metrics/metrics.js';
import { RedisService } from '../../platform/redis/redis.service.js';
import { within } from '../../platform/concurrency/deadline.js';
import { DatabaseDeadlineError, DatabaseUnavailableError } from '../../store/database.errors.js';
import { ScanFailedError } from '../model/failures.js';
import { type MadeScan, ScanStore } from '../storage/scan-store.js';
import { ScanTurnsRepository } from '../storage/scan-turns.repository.js';
import { ScanEngine } from './scan-engine.js';
import type { DiscoveryResult, ScanFindings } from '../model/scan.types.js';
import { discoveryLimits } from '../discovery.limits.js';

/** How often a replica looks whether the scan of another one is completed, unless it is told before. */
const POLL_MS = 100;
/** Renewals of a lease before it would end. */
const RENEWALS = 3;

/** Gives every caller a scan that began after the call; those who come while one runs share the next. */
@Injectable()
export class ScanCoordinator implements OnModuleDestroy {
  /** Scans that callers wait for, by the number that theirs must exceed. */
  private readonly wanted = new Map<number, Promise<DiscoveryResult>>();
  /** Settles when every scan that is wanted has been given: this replica makes one after the other. */
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
   * @param requestedBy user name, kept with the scan when this is the caller who caused it
   * @throws ScanFailedError when the database is away, after `requestTimeoutMs`, and when the service stops
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

  /** Ends a scan under way and turns its callers away. */
  async onModuleDestroy(): Promise<void> {
    this.stop.abort();
    this.pause.abort();
    await this.last;
  }

  private async shared(requestedBy: string): Promise<DiscoveryResult> {
    const { begun: after } = await this.turns.look();
    const known = this.wanted.get(after);
    if (known !== undefined) {
      return known;
    }
    const scan = this.last
      .then(() => this.obtain(after, requestedBy))
      .finally(() => this.wanted.delete(after));
    this.wanted.set(after, scan);
    this.last = scan.catch(() => undefined);
    return scan;
  }

  /** A scan with a higher number, made here or by another replica. */
  private async obtain(after: number, requestedBy: string): Promise<DiscoveryResult> {
    while (!this.stop.signal.aborted) {
      const { begun, isFree } = await this.turns.look();
      // Read after the turn: whatever ended it is stored by then.
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

  /** @returns undefined when another replica took over: it does the work */
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
      this.redis.shared?.signals.tell('scan', String(turn.number));
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
    // A renewal that fails is tried again; whether the lease was lost shows when the scan is stored.
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
