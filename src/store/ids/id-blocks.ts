import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { InternalError } from '../../platform/errors/domain.error.js';
import { Database } from '../database.js';
import { isDuplicate } from '../connection/driver-errors.js';
import { IdBlockEntity } from './id-block.entity.js';
import { cached } from '#engine/support';
import { SingleFlight } from '../../platform/concurrency/single-flight.js';

/** A transaction asked for more ids than are in stock. */
export class IdRangeExhaustedError extends InternalError {
  readonly code = 'ID_RANGE_EXHAUSTED';
  constructor() {
    super('More ids were used than had been reserved.');
  }
}

/** Ids that one replica reserves at a time. What it has not used when it ends is never used: gaps mean nothing. */
const BLOCK_SIZE = 1_000;
/** With fewer in stock the next block is reserved, while the others are handed out. */
const LOW_STOCK = 500;
/** Rests of blocks that are kept; with more the oldest is forgotten. */
const MAX_PARTS = 32;

/** Sequences of ids. Others may be named as needed, up to 32 characters. */
type IdName = 'process-instance' | 'process-token' | 'process-node' | 'job' | (string & {});

interface Part {
  next: number;
  end: number;
}

interface Stock {
  parts: Part[];
}

/**
 * Ids from 1 to 2^53 - 1 that no other replica of the service gives out. Each replica reserves blocks of 1,000 in a
 * short transaction of its own, and hands the ids out from memory. Neither gaps nor the order of ids mean anything.
 *
 * Ask for them **before** `Database.write` (`next`): inside, a stock that has run out could not be filled up, because the
 * embedded file has one connection. Or `provide` before it and `take` inside, and begin again when there are too few.
 */
@Injectable()
export class IdBlocks {
  private readonly stocks = new Map<IdName, Stock>();
  private readonly refills = new SingleFlight<IdName, void>();

  constructor(private readonly database: Database) {}

  /**
   * Takes `count` consecutive ids.
   * @throws NestedDatabaseUseError inside of work given to `Database`
   */
  async next(name: IdName, count = 1): Promise<number> {
    // Not only when the stock is empty, which would be one call in a thousand.
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
   * Sees to it that so many ids of each kind are in stock, for `take`. Mostly there is nothing to wait for.
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
        // Whoever needs it, asks again and is told.
        this.refilled(name, stock).catch(() => undefined);
      }
    }
  }

  /**
   * Takes one id out of the stock, at once, also inside of a transaction. One that is rolled back leaves a gap.
   * @throws IdRangeExhaustedError when there are none: then roll back, `provide` more and begin again
   */
  take(name: IdName): number {
    const id = take(this.stockOf(name), 1);
    if (id === undefined) {
      throw new IdRangeExhaustedError();
    }
    return id;
  }

  /** Those who need it at one time wait for one block. */
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

/** Moves the beginning of the free ids; the row stays locked until the transaction ends, so nobody gets the same ids. */
async function advance(manager: EntityManager, name: IdName, count: number): Promise<number> {
  const { affected } = await manager.increment(IdBlockEntity, { name }, 'next', count);
  if (affected === 0) {
    await manager.insert(IdBlockEntity, { name, next: 1 }).catch((error: unknown) => {
      // Another replica was first; its row serves both.
      if (!isDuplicate(error)) {
        throw error;
      }
    });
    await manager.increment(IdBlockEntity, { name }, 'next', count);
  }
  const { next } = await manager.findOneByOrFail(IdBlockEntity, { name });
  return next - count;
}
