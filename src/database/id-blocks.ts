import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from './database.js';
import { isDuplicate } from './driver-errors.js';
import { IdBlockEntity } from './id-block.entity.js';
import { IdRange, IdRangeExhaustedError } from './id-range.js';

/** Ids that one replica reserves at a time. What it has not used when it ends is never used: gaps mean nothing. */
const BLOCK_SIZE = 1_000;
/** With fewer in stock the next block is reserved, while the others are handed out. */
const LOW_STOCK = 500;
/** Parts of blocks kept for later; with more the smallest is forgotten. */
const MAX_PARTS = 32;

/** Sequences of ids. Others may be named as needed, up to 32 characters. */
export type IdName = 'process-instance' | 'process-token' | 'process-node' | 'job' | (string & {});

interface Part {
  next: number;
  end: number;
}

interface Stock {
  parts: Part[];
  refill: Promise<void> | undefined;
}

/**
 * Ids from 1 to 2^53 - 1 that no other replica of the service gives out. Each replica reserves blocks of 1,000 in a
 * short transaction of its own, and hands the ids out from memory. Neither gaps nor the order of ids mean anything.
 *
 * Reserve **before** `Database.write`: inside, a stock that has run out could not be filled up, because the embedded
 * file has one connection. How many ids a transaction needs may be a guess from above: `IdRange.giveBack` returns the
 * rest.
 *
 *     const ids = await idBlocks.reserve('process-token', 16);
 *     await database.write(async (manager) => { const nextId = ids.sequence(); … });
 *     ids.giveBack();
 *
 * `provide` and `take` cost less, where a transaction may begin again when there are too few.
 */
@Injectable()
export class IdBlocks {
  private readonly stocks = new Map<IdName, Stock>();

  constructor(private readonly database: Database) {}

  /**
   * Takes `count` consecutive ids.
   * @returns the first of them
   * @throws NestedDatabaseUseError inside of work given to `Database`
   */
  async next(name: IdName, count = 1): Promise<number> {
    // Not only when the stock is empty, which would be one call in a thousand.
    this.database.refuseNestedUse();
    if (count >= BLOCK_SIZE) {
      return this.database.writeAside((manager) => advance(manager, name, count));
    }
    for (;;) {
      const stock = this.stockOf(name);
      const first = take(stock, count);
      if (first !== undefined) {
        return first;
      }
      stock.refill ??= this.refill(name, stock);
      await stock.refill;
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
      while (leftIn(stock) < Math.max(count, LOW_STOCK)) {
        stock.refill ??= this.refill(name, stock, Math.max(count, BLOCK_SIZE));
        if (leftIn(stock) >= count) {
          // Whoever needs it, asks again and is told.
          stock.refill.catch(() => undefined);
          break;
        }
        await stock.refill;
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

  /**
   * Takes ids for one transaction, before it begins.
   * @param count more than it can need
   * @throws NestedDatabaseUseError inside of work given to `Database`
   */
  async reserve(name: IdName, count: number): Promise<IdRange> {
    return new IdRange(await this.next(name, count), count, (next, rest) => {
      keep(this.stockOf(name), { next, end: next + rest });
    });
  }

  private async refill(name: IdName, stock: Stock, count = BLOCK_SIZE): Promise<void> {
    try {
      const next = await this.database.writeAside((manager) => advance(manager, name, count));
      keep(stock, { next, end: next + count });
    } finally {
      stock.refill = undefined;
    }
  }

  private stockOf(name: IdName): Stock {
    const stock = this.stocks.get(name) ?? { parts: [], refill: undefined };
    this.stocks.set(name, stock);
    return stock;
  }
}

function leftIn({ parts }: Stock): number {
  return parts.reduce((sum, { next, end }) => sum + end - next, 0);
}

function take({ parts }: Stock, count: number): number | undefined {
  const part = parts.find(({ next, end }) => end - next >= count);
  if (part === undefined) {
    return undefined;
  }
  const first = part.next;
  part.next += count;
  if (part.next === part.end) {
    parts.splice(parts.indexOf(part), 1);
  }
  return first;
}

/** Puts a part in its place, and joins it with what it continues. */
function keep({ parts }: Stock, { next, end }: Part): void {
  const found = parts.findIndex((part) => part.next > next);
  const index = found === -1 ? parts.length : found;
  const before = parts[index - 1];
  const after = parts[index];
  if (before?.end === next) {
    before.end = after?.next === end ? after.end : end;
    parts.splice(index, before.end === end ? 0 : 1);
  } else if (after?.next === end) {
    after.next = next;
  } else {
    parts.splice(index, 0, { next, end });
  }
  if (parts.length > MAX_PARTS) {
    const sizes = parts.map((part) => part.end - part.next);
    parts.splice(sizes.indexOf(Math.min(...sizes)), 1);
  }
}

/** Moves the beginning of the free ids; the row stays locked until the transaction ends, so nobody gets the same ids. */
async function advance(manager: EntityManager, name: IdName, count: number): Promise<number> {
  const { affected } = await manager.increment(IdBlockEntity, { name }, 'next', count);
  if (affected === 0) {
    await insertFirst(manager, name);
    await manager.increment(IdBlockEntity, { name }, 'next', count);
  }
  const { next } = await manager.findOneByOrFail(IdBlockEntity, { name });
  return next - count;
}

async function insertFirst(manager: EntityManager, name: IdName): Promise<void> {
  try {
    await manager.insert(IdBlockEntity, { name, next: 1 });
  } catch (error) {
    // Another replica was first; its row serves both.
    if (!isDuplicate(error)) {
      throw error;
    }
  }
}
