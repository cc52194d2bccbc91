import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Clock } from '../../common/clock.js';
import type { Log } from '../../common/logging/log.js';
import { within } from '../../common/within.js';
import type { Env } from '../../config/env.js';
import { codeOf } from '../../config/start.error.js';
import type { ReplicaOptions } from '../data-source.options.js';
import { isDatabaseFailure } from '../database-failure.js';
import { PROOF_SLOTS } from '../write-proof.entity.js';
import { ReadReplica } from './read-replica.js';

const SECOND_MS = 1_000;
const LAG = 'LAG';

/** Writes the time into a row of the database, which reaches its replicas as everything does. */
export type WriteProof = (slot: number, writtenAt: Date) => Promise<unknown>;

/**
 * The hosts of `DATABASE_READ_URL`. How far one lags is known by a row that this process writes every
 * `DATABASE_READ_LOOK_MS`: a host that has it has all that was stored before it. So a reading costs no statement more, and
 * no way of replication and no right of the user matters.
 */
export class ReadReplicas implements OnModuleInit, OnApplicationShutdown {
  /** Readings that a replica answered, and those that the writer had to. */
  readonly reads = { replica: 0, writer: 0 };
  private readonly replicas: readonly ReadReplica[];
  /** Those that were in use when they were last looked at. */
  private readonly used = new Set<ReadReplica>();
  private readonly slot = randomInt(PROOF_SLOTS);
  private readonly maxLagMs: number;
  private readonly everyMs: number;
  private readonly limitMs: number;
  private turn = 0;
  private isEnded = false;
  private writing: Promise<unknown> | undefined;

  constructor(
    replicas: readonly ReplicaOptions[],
    env: Env,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly writeProof: WriteProof,
  ) {
    this.replicas = replicas.map((each) => new ReadReplica(each, env.get('DATABASE_SHARDS')));
    this.maxLagMs = env.get('DATABASE_READ_MAX_LAG_SECONDS') * SECOND_MS;
    this.everyMs = env.get('DATABASE_READ_LOOK_MS');
    this.limitMs = env.get('DATABASE_READ_TIMEOUT_MS');
  }

  /** How many may be asked now, and how many are left out. */
  get counts(): { used: number; leftOut: number } {
    const used = this.usable().length;
    return { used, leftOut: this.replicas.length - used };
  }

  onModuleInit(): void {
    if (this.replicas.length > 0) {
      void this.repeat(() => this.prove());
      this.replicas.forEach((replica) => void this.repeat(() => this.lookAt(replica)));
    }
  }

  async onApplicationShutdown(): Promise<void> {
    this.isEnded = true;
    await Promise.allSettled(this.replicas.map((replica) => replica.end()));
  }

  /**
   * Lets the next replica answer that is not too old. Whatever keeps it from that is no failure of the caller's, and what it
   * refuses may be there already: the writer has the last word on both.
   * @returns undefined where the writer must be asked
   */
  async ask<T>(work: (manager: EntityManager) => Promise<T>): Promise<{ result: T } | undefined> {
    const replica = this.next();
    if (replica !== undefined) {
      try {
        const result = await within(this.limitMs, work(replica.manager), late);
        this.reads.replica += 1;
        return { result };
      } catch (error) {
        if (error instanceof ReplicaLateError || isDatabaseFailure(error)) {
          replica.distrust();
          this.note(replica, codeOf(error));
        }
      }
    }
    this.reads.writer += this.replicas.length === 0 ? 0 : 1;
    return undefined;
  }

  private next(): ReadReplica | undefined {
    const usable = this.usable();
    this.turn += 1;
    return usable[this.turn % usable.length];
  }

  private usable(): ReadReplica[] {
    const now = this.clock.now().getTime();
    return this.replicas.filter((replica) => replica.age(now) <= this.maxLagMs);
  }

  private async repeat(work: () => Promise<void>): Promise<void> {
    while (!this.isEnded) {
      await work();
      await sleep(this.everyMs, undefined, { ref: false });
    }
  }

  /** What keeps it from being written keeps replicas from being asked before long, and the writer tells everybody why. */
  private async prove(): Promise<void> {
    this.writing ??= this.writeProof(this.slot, this.clock.now())
      .catch(() => undefined)
      .finally(() => {
        this.writing = undefined;
      });
    await within(this.limitMs, this.writing, () => undefined);
  }

  private async lookAt(replica: ReadReplica): Promise<void> {
    try {
      await within(this.limitMs, replica.look(this.slot), late);
      this.note(replica, LAG);
    } catch (error) {
      replica.distrust();
      this.note(replica, codeOf(error));
    }
  }

  /** Logs changes only. */
  private note(replica: ReadReplica, reason: string): void {
    const isUsable = replica.age(this.clock.now().getTime()) <= this.maxLagMs;
    if (isUsable === this.used.has(replica) || this.isEnded) {
      return;
    }
    if (isUsable) {
      this.used.add(replica);
      this.log.info('a replica of the database is read', { ...replica.place });
    } else {
      this.used.delete(replica);
      this.log.warn('a replica of the database is left out', { ...replica.place, reason });
    }
  }
}

/** A replica has not answered within `DATABASE_READ_TIMEOUT_MS`. */
class ReplicaLateError extends Error {
  readonly code = 'DATABASE_REPLICA_LATE';
}

function late(): never {
  throw new ReplicaLateError('a replica of the database is late');
}
