import { randomUUID } from 'node:crypto';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Metrics } from '../../../common/metrics/metrics.js';
import { RedisService } from '../../../common/redis/redis.service.js';
import { WaitingLine } from '../../../common/waiting-line.js';
import { DatabaseDeadlineError, DatabaseUnavailableError } from '../../../database/database.errors.js';
import { ScanLostError, ScanNotStoredError, ScanTimeoutError } from '../model/discovery.errors.js';
import { ScanStore } from '../storage/scan-store.js';
import { ScanTurnsRepository } from '../storage/scan-turns.repository.js';
import { ScanEngine, ScanStoppedError } from './scan-engine.js';
import type { DiscoveryResult, ScanFindings } from '../model/scan.types.js';
import { SharedRead } from './shared-read.js';
import { discoveryLimits } from '../discovery.limits.js';

/** How often a replica looks whether the scan of another one is completed, unless it is told before. */
const POLL_MS = 100;
/** Renewals of a lease before it would end. */
const RENEWALS = 3;

/** Somebody who wants a scan with a number above `after`. */
interface Waiter {
  after: number;
  requestedBy: string;
  resolve: (result: DiscoveryResult) => void;
  reject: (error: unknown) => void;
}

/**
 * Gives every caller a scan that began after the call, with as few scans as possible. Callers who come while a scan is under
 * way share the next one, on all replicas together. So a burst of calls is two scans at most.
 */
@Injectable()
export class ScanCoordinator implements OnModuleDestroy {
  private readonly waiters = new Set<Waiter>();
  private readonly stop = new AbortController();
  private readonly begun = new SharedRead(async () => (await this.turns.look()).begun);
  private readonly pause = new WaitingLine<true>();
  private serving: Promise<void> | undefined;

  constructor(
    private readonly turns: ScanTurnsRepository,
    private readonly store: ScanStore,
    private readonly engine: ScanEngine,
    private readonly metrics: Metrics,
    private readonly redis: RedisService,
  ) {
    redis.shared?.signals.listen('scan', () => this.pause.admit());
  }

  /**
   * @param requestedBy user name, kept with the scan when this is the caller who caused it
   * @throws ScanNotStoredError when the database is away, ScanTimeoutError after `requestTimeoutMs`, ScanStoppedError when the service stops
   */
  async scan(requestedBy: string): Promise<DiscoveryResult> {
    let timer: NodeJS.Timeout | undefined;
    let waiter: Waiter | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new ScanTimeoutError()), discoveryLimits.requestTimeoutMs);
    });
    try {
      const after = await Promise.race([this.begun.get(), late]);
      const result = new Promise<DiscoveryResult>((resolve, reject) => {
        waiter = { after, requestedBy, resolve, reject };
        this.enter(waiter);
      });
      return await Promise.race([result, late]);
    } catch (error) {
      throw error instanceof DatabaseUnavailableError || error instanceof DatabaseDeadlineError
        ? new ScanNotStoredError(error)
        : error;
    } finally {
      clearTimeout(timer);
      if (waiter !== undefined) {
        this.waiters.delete(waiter);
      }
    }
  }

  /** Ends a scan under way and turns its callers away. */
  async onModuleDestroy(): Promise<void> {
    this.stop.abort();
    this.rejectAll(new ScanStoppedError());
    await this.serving;
  }

  private enter(waiter: Waiter): void {
    if (this.stop.signal.aborted) {
      throw new ScanStoppedError();
    }
    this.waiters.add(waiter);
    this.serving ??= this.serve();
  }

  private async serve(): Promise<void> {
    try {
      while (this.waiters.size > 0) {
        if (!(await this.step())) {
          await this.pause.wait(true, POLL_MS);
        }
      }
    } catch (error) {
      this.rejectAll(error);
    } finally {
      this.serving = undefined;
    }
  }

  /** @returns false when there is nothing to do but to wait for another replica */
  private async step(): Promise<boolean> {
    const { begun, isFree } = await this.turns.look();
    // Read after the turn: whatever ended it is stored by then.
    const done = await this.store.newestAfter(Math.min(...this.afters()));
    if (done !== null) {
      this.resolve(done.id, done.result);
    }
    if (this.waiters.size === 0) {
      return true;
    }
    const holder = randomUUID();
    if (!isFree || !(await this.turns.claim(begun, holder, discoveryLimits.leaseMs))) {
      return false;
    }
    await this.takeTurn(begun + 1, holder);
    return true;
  }

  private async takeTurn(number: number, holder: string): Promise<void> {
    const [first] = this.waiters;
    const end = this.metrics.discoveryScanDuration.startTimer();
    try {
      const findings = await this.scanHolding(holder);
      const requestedBy = first?.requestedBy ?? '';
      const result = await this.store.complete({ number, holder, requestedBy, findings });
      end({ outcome: 'completed' });
      this.resolve(number, result);
    } catch (error) {
      const isLost = error instanceof ScanLostError;
      end({ outcome: isLost ? 'lost' : 'failed' });
      // Who took over does the work; these callers wait for that.
      if (!isLost) {
        await this.turns.release(holder).catch(() => undefined);
        this.reject(number, error);
      }
    }
    this.redis.shared?.signals.tell('scan', String(number));
  }

  /** Renews the lease while the scan runs, and ends the scan when the lease is lost. */
  private async scanHolding(holder: string): Promise<ScanFindings> {
    const leaseMs = discoveryLimits.leaseMs;
    const end = new AbortController();
    let isLost = false;
    const onStop = (): void => end.abort();
    this.stop.signal.addEventListener('abort', onStop, { once: true });
    const renew = async (): Promise<void> => {
      if (!(await this.turns.renew(holder, leaseMs))) {
        isLost = true;
        end.abort();
      }
    };
    // A renewal that fails is tried again; whether the lease was lost shows when the scan is stored.
    const timer = setInterval(() => void renew().catch(() => undefined), leaseMs / RENEWALS);
    try {
      return await this.engine.scan(end.signal);
    } catch (error) {
      throw isLost ? new ScanLostError() : error;
    } finally {
      clearInterval(timer);
      this.stop.signal.removeEventListener('abort', onStop);
    }
  }

  private afters(): number[] {
    return [...this.waiters].map(({ after }) => after);
  }

  private resolve(number: number, result: DiscoveryResult): void {
    this.take(({ after }) => after < number).forEach((waiter) => waiter.resolve(result));
  }

  private reject(number: number, error: unknown): void {
    this.take(({ after }) => after < number).forEach((waiter) => waiter.reject(error));
  }

  private rejectAll(error: unknown): void {
    this.take(() => true).forEach((waiter) => waiter.reject(error));
  }

  private take(isMeant: (waiter: Waiter) => boolean): Waiter[] {
    const taken = [...this.waiters].filter(isMeant);
    taken.forEach((waiter) => this.waiters.delete(waiter));
    return taken;
  }
}
