import { Injectable } from '@nestjs/common';
import { LessThan, LessThanOrEqual, type EntityManager } from 'typeorm';
import { Table } from '../../../store/tables/table.js';
import { QuotaUseEntity } from './quota-use.entity.js';

/** The row of a window. */
export type QuotaWindow = Pick<QuotaUseEntity, 'id' | 'endsAt'>;

const USES = new Table(QuotaUseEntity);
const USED = USES.select('used');

/** Counts of all replicas. */
@Injectable()
export class QuotaUsesRepository {
  /** Adds to what is used, if that stays within the limit. @returns whether it did */
  async add(manager: EntityManager, window: QuotaWindow, amount: number, limit: number): Promise<boolean> {
    if (amount > limit) {
      return false;
    }
    if (await this.added(manager, window, amount, limit)) {
      return true;
    }
    await USES.ensure(manager, { ...window, used: 0 });
    return this.added(manager, window, amount, limit);
  }

  /** Adds to what is used, whatever the limit; a negative amount gives back. */
  async force(manager: EntityManager, window: QuotaWindow, amount: number): Promise<void> {
    await USES.ensure(manager, { ...window, used: 0 });
    await USES.update(manager, { id: window.id }, { used: () => `used + ${Math.trunc(amount)}` });
  }

  /** What is used. */
  async used(manager: EntityManager, { id }: QuotaWindow): Promise<number> {
    return (await USED.first(manager, { id }))?.used ?? 0;
  }

  /** Removes windows that have ended; returns how many. */
  async removeEnded(manager: EntityManager, now: Date, limit: number): Promise<number> {
    const found = { order: { endsAt: 'ASC' }, limit } as const;
    return USES.deleteFirst(manager, 'id', { endsAt: LessThan(now) }, found);
  }

  private async added(
    manager: EntityManager,
    { id }: QuotaWindow,
    amount: number,
    limit: number,
  ): Promise<boolean> {
    const room = { id, used: LessThanOrEqual(limit - amount) };
    return (await USES.update(manager, room, { used: () => `used + ${Math.trunc(amount)}` })) === 1;
  }
}
