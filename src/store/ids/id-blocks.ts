import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { InternalError } from '../../platform/errors/domain.error.js';
import { Database } from '../database.js';
import { isDuplicate } from '../connection/driver-errors.js';
import { IdBlockEntity } from './id-block.entity.js';
import { cached } from '#engine/support';
import { SingleFlight } from '../../platform/concurrency/single-flight.js';

/** A transaction used more ids than were reserved. */
export class IdRangeExhaustedError extends InternalError {
  readonly code = 'ID_RANGE_EXHAUSTED';
  constructor() {
    super('More ids were used than had been reserved.');
  }
}

/** Number of ids that a replica reserves at once. Ids that are unused when it stops are never used. */
const BLOCK_SIZE = 1_000;
/** With fewer ids in stock, the next block is reserved in the background. */
const LOW_STOCK = 500;
/** Maximum number of partly used blocks. Beyond it the oldest is dropped. */
const MAX_PARTS = 32;

/** Name of a sequence of ids, up to 32 characters. */
type IdName = 'process-instance' | 'process-token' | 'process-node' | 'job' | (string & {});

interface Part {
  next: number;
  end: number;
}

interface Stock {
  parts: Part[];
}

/**
 * Assigns ids from 1 to 2^53 - 1 that are unique across replicas. Each replica reserves blocks of 1,000 in a short transaction
 * of its own, and assigns the ids from memory. Neither gaps nor the order of ids have a meaning.
 *
 * Call `next` **before** `Database.write`, because the embedded file has one connection, so the stock cannot be refilled inside.
 * Or call `provide` before and `take` inside, and start over when too few ids are left.
 */
@Injectable()
export class IdBlocks {
  private readonly stocks = new Map<IdName, Stock>();
  private readonly refills = new SingleFlight<IdName, void>();

  constructor(private readonly database: Database) {}

  /**
   * Takes `count` consecutive ids.
   * @returns the first one
   * @throws NestedDatabaseUseError inside of work given to `Database`
   */
  async next(name: IdName, count = 1): Promise<number> {
    // Checked always, not only in the rare case that the stock is empty.
    this.database.refuseNestedUse();
    if (count >= BLOCK_SIZE) {
      return this.database.writeAside((manager) => advance(manager, name, count));
    }
    const stock = this.stockOf(name);
    for (;;) {
      const first = take(stock, count);
      if (first !== undefined) {
        return first;
      }
      await this.refilled(name, stock);
    }
  }

  /**
   * Ensures that this many ids of each sequence are in stock for `take`. Usually returns without waiting.
   * @throws NestedDatabaseUseError inside of work given to `Database`
   */
  async provide(names: readonly IdName[], count: number): Promise<void> {
    this.database.refuseNestedUse();
    for (const name of names) {
      const stock = this.stockOf(name);
      while (leftIn(stock) < count) {
        await this.refilled(name, stock, Math.max(count, BLOCK_SIZE));
      }
      if (leftIn(stock) < LOW_STOCK) {
        // A later call that needs the block retries and reports the error.
        this.refilled(name, stock).catch(() => undefined);
      }
    }
  }

  /**
   * Takes one id from the stock, without waiting. May be used in a transaction, where a rollback leaves a gap.
   * @throws IdRangeExhaustedError when the stock is empty; roll back, `provide` more and start over
   */
  take(name: IdName): number {
    const id = take(this.stockOf(name), 1);
    if (id === undefined) {
      throw new IdRangeExhaustedError();
    }
    return id;
  }

  /** Reserves a block. Concurrent callers wait for the same one. */
  private refilled(name: IdName, stock: Stock, count = BLOCK_SIZE): Promise<void> {
    return this.refills.run(name, async () => {
      const next = await this.database.writeAside((manager) => advance(manager, name, count));
      stock.parts = [...stock.parts, { next, end: next + count }].slice(-MAX_PARTS);
    });
  }

  private stockOf(name: IdName): Stock {
    return cached(this.stocks, name, () => ({ parts: [] }));
  }
}

function leftIn({ parts }: Stock): number {
  return parts.reduce((sum, { next, end }) => sum + end - next, 0);
}

function take(stock: Stock, count: number): number | undefined {
  const part = stock.parts.find(({ next, end }) => end - next >= count);
  if (part === undefined) {
    return undefined;
  }
  part.next += count;
  if (part.next === part.end) {
    stock.parts = stock.parts.filter((other) => other !== part);
  }
  return part.next - count;
}

/** Reserves ids. The row stays locked until the transaction ends, so no two replicas get the same ids. */
async function advance(manager: EntityManager, name: IdName, count: number): Promise<number> {
  const { affected } = await manager.increment(IdBlockEntity, { name }, 'next', count);
  if (affected === 0) {
    await manager.insert(IdBlockEntity, { name, next: 1 }).catch((error: unknown) => {
      // Another replica has inserted the row.
      if (!isDuplicate(error)) {
        throw error;
      }
    });
    await manager.increment(IdBlockEntity, { name }, 'next', count);
  }
  const { next } = await manager.findOneByOrFail(IdBlockEntity, { name });
  return next - count;
}
