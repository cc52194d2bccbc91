import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ReplicaStoppingError, StopGate } from '../../../common/http/stop-gate.js';
import { useOf, Metrics } from '../../../common/metrics/metrics.js';
import { callerHash, type Principal } from '../../../common/user/principal.js';
import { type Limit } from '../../../config/env.js';
import { TooManyProgressStreamsError } from '../model/process-runtime.errors.js';
import type { InstanceStream } from './instance-stream.js';
import { processLimits } from '../process.limits.js';

/** The open connections of this replica that follow instances, and how many there may be. */
@Injectable()
export class Followers implements OnModuleInit {
  private readonly streams = new Set<InstanceStream>();
  private readonly ofAll: Limit;
  private readonly ofCaller: Limit;
  private isStopping = false;

  constructor(
    private readonly gate: StopGate,
    private readonly metrics: Metrics,
  ) {
    this.ofAll = { name: 'followers', most: processLimits.followers };
    this.ofCaller = { name: 'followers-per-caller', most: processLimits.followersPerCaller };
  }

  onModuleInit(): void {
    this.metrics.limits.show(this.ofAll, () => ({ all: this.streams.size }));
    this.metrics.limits.show(this.ofCaller, () => useOf(this.counts().values()));
    this.gate.whenClosed(() => this.endAll());
  }

  /** All that are open now. */
  get all(): readonly InstanceStream[] {
    return [...this.streams];
  }

  /** Whether there is anybody, and will be. */
  get goOn(): boolean {
    return this.streams.size > 0 && !this.isStopping;
  }

  /**
   * Refuses a connection too many, before anything is sent.
   * @throws TooManyProgressStreamsError, ReplicaStoppingError
   */
  demandRoom(principal: Principal): void {
    if (this.isStopping) {
      throw new ReplicaStoppingError();
    }
    if ((this.counts().get(callerHash(principal)) ?? 0) >= this.ofCaller.most) {
      throw new TooManyProgressStreamsError(this.ofCaller);
    }
    if (this.streams.size >= this.ofAll.most) {
      throw new TooManyProgressStreamsError(this.ofAll);
    }
  }

  /** One is open. */
  add(stream: InstanceStream): void {
    this.streams.add(stream);
  }

  /** One has ended. */
  remove(stream: InstanceStream): void {
    this.streams.delete(stream);
  }

  /** Ends all connections, and takes none any more; a server waits for them before it stops. */
  endAll(): void {
    this.isStopping = true;
    this.all.forEach((stream) => stream.end());
  }

  private counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { caller } of this.streams) {
      counts.set(caller, (counts.get(caller) ?? 0) + 1);
    }
    return counts;
  }
}
