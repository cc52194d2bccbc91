import { randomUUID } from 'node:crypto';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Metrics } from '../../../common/metrics/metrics.js';
import { RedisService } from '../../../common/redis/redis.service.js';
import { within } from '../../../common/deadline.js';
import { WaitingLine } from '../../../common/waiting-line.js';
import { DatabaseDeadlineError, DatabaseUnavailableError } from '../../../database/database.errors.js';
import { ScanLostError, ScanNotStoredError, ScanTimeoutError } from '../model/failures.js';
import { ScanStore } from '../storage/scan-store.js';
import { ScanTurnsRepository } from '../storage/scan-turns.repository.js';
import { ScanEngine, ScanStoppedError } from './scan-engine.js';
import type { DiscoveryResult, ScanFindings } from '../model/scan.types.js';
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

/** Gives every caller a scan that began after the call; those who come while one runs share the next. */
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
    const endsAt = performance.now() + discoveryLimits.requestTimeoutMs;
    const inTime = <Value>(work: Promise<Value>): Promise<Value> =>
      within(endsAt - performance.now(), work, () => {
        throw new ScanTimeoutError();
      });
    let waiter: Waiter | undefined;
    try {
      const after = await inTime(this.begun.get());
      const scanned = new Promise<DiscoveryResult>((resolve, reject) => {
        waiter = { after, requestedBy, resolve, reject };
        this.enter(waiter);
      });
      return await inTime(scanned);
    } catch (error) {
      throw error instanceof DatabaseUnavailableError || error instanceof DatabaseDeadlineError
        ? new ScanNotStoredError(error)
        : error;
    } finally {
      if (waiter !== undefined) {
        this.waiters.delete(waiter);
      }
    }
  }

  /** Ends a scan under way and turns its callers away. */
  async onModuleDestroy(): Promise<void> {
    this.stop.abort();
    this.reject(new ScanStoppedError());
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
      this.reject(error);
    } finally {
      this.serving = undefined;
    }
  }

  /** @returns false when there is nothing to do but to wait for another replica */
  private async step(): Promise<boolean> {
    const { begun, isFree } = await this.turns.look();
    // Read after the turn: whatever ended it is stored by then.
    const done = await this.store.newestAfter(Math.min(...[...this.waiters].map(({ after }) => after)));
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
        this.reject(error, number);
      }
    }
    this.redis.shared?.signals.tell('scan', String(number));
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
      throw lost.signal.aborted ? new ScanLostError() : error;
    } finally {
      clearInterval(timer);
    }
  }

  private resolve(number: number, result: DiscoveryResult): void {
    this.take(number).forEach((waiter) => waiter.resolve(result));
  }

  /** @param number of the scan that failed; those who came while it ran wait for another. @default all are turned away */
  private reject(error: unknown, number = Infinity): void {
    this.take(number).forEach((waiter) => waiter.reject(error));
  }

  private take(number: number): Waiter[] {
    const taken = [...this.waiters].filter(({ after }) => after < number);
    taken.forEach((waiter) => this.waiters.delete(waiter));
    return taken;
  }
}

/** Shares one reading among many callers. No caller gets a reading that began before the call. */
export class SharedRead<Value> {
  private running: Promise<Value> | undefined;
  private next: Promise<Value> | undefined;

  constructor(private readonly read: () => Promise<Value>) {}

  get(): Promise<Value> {
    if (this.running === undefined) {
      return this.start();
    }
    this.next ??= this.afterwards(this.running);
    return this.next;
  }

  private async afterwards(running: Promise<Value>): Promise<Value> {
    await running.catch(() => undefined);
    this.next = undefined;
    return this.start();
  }

  private start(): Promise<Value> {
    const running = this.read().finally(() => {
      this.running = undefined;
    });
    this.running = running;
    return running;
  }
}
