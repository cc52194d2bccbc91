import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DatabaseTime } from '../../store/tables/database-time.js';
import { Database } from '../../store/database.js';
import { isDuplicate } from '../../store/connection/driver-errors.js';
import { ScanFailedError } from '../model/failures.js';
import type { Snapshot } from '../findings/snapshot.js';
import { DiscoveryStateEntity } from './discovery.entity.js';

const NAME = 'scan';
const LONG_AGO = new Date(0);

/** Whose turn it is. */
interface ScanTurn {
  /** Number of the scan that began last; 0 before the first. */
  begun: number;
  /** Whether nobody scans now. */
  isFree: boolean;
}

/**
 * Lets one replica scan at a time. Scans are counted when they begin, so "began after my request" is a comparison of
 * numbers and needs no clocks: a request reads the number when it arrives and wants a scan with a higher one. Whoever
 * scans holds a lease, which the clock of the database measures and which it renews, so that a crash blocks nobody.
 */
@Injectable()
export class ScanTurnsRepository {
  /** Whose turn it is, looked up at one time for all who ask. */
  readonly look: () => Promise<ScanTurn>;

  constructor(
    private readonly database: Database,
    private readonly time: DatabaseTime,
  ) {
    const look = database.sharedRead<typeof NAME, ScanTurn>(
      (manager) => this.turn(manager),
      (name) => name,
    );
    this.look = () => look(NAME);
  }

  private async turn(manager: EntityManager): Promise<ScanTurn[]> {
    const isFree = `CASE WHEN state.holder IS NULL OR state.held_until <= ${this.time.at()} THEN 1 ELSE 0 END`;
    const row = await manager
      .createQueryBuilder(DiscoveryStateEntity, 'state')
      .select('state.begun', 'begun')
      .addSelect(isFree, 'isFree')
      .where({ name: NAME })
      .getRawOne<{ begun: unknown; isFree: unknown }>();
    return [{ begun: Number(row?.begun ?? 0), isFree: Number(row?.isFree ?? 1) === 1 }];
  }

  /**
   * Begins the scan number `begun + 1`, unless somebody else began one meanwhile.
   * @param holder new and unique
   * @returns whether it is this one's turn
   */
  async claim(begun: number, holder: string, leaseMs: number): Promise<boolean> {
    if (begun === 0) {
      await this.insertFirst();
    }
    const isFree = `(holder IS NULL OR held_until <= ${this.time.at()})`;
    return this.hold({ begun }, { holder, begun: begun + 1 }, leaseMs, isFree);
  }

  /** @returns false when the lease is another's */
  async renew(holder: string, leaseMs: number): Promise<boolean> {
    return this.hold({ holder }, {}, leaseMs);
  }

  /** Prolongs the lease where the row is as it should be, and tells whether it was. */
  private async hold(
    where: Partial<DiscoveryStateEntity>,
    changes: Partial<DiscoveryStateEntity>,
    leaseMs: number,
    condition = '1 = 1',
  ): Promise<boolean> {
    const { affected } = await this.database.write((manager) =>
      manager
        .createQueryBuilder()
        .update(DiscoveryStateEntity)
        .set({ ...changes, heldUntil: () => this.time.at(leaseMs) })
        .where({ name: NAME, ...where })
        .andWhere(condition)
        .execute(),
    );
    return affected === 1;
  }

  async release(holder: string): Promise<void> {
    await this.database.write((manager) =>
      manager.update(DiscoveryStateEntity, { name: NAME, holder }, { holder: null }),
    );
  }

  /**
   * Ends the turn in the transaction that stores what it found; the row stays locked until then.
   * @returns what the last completed scan found; null before the first
   * @throws ScanFailedError `DISCOVERY_LOST` when the lease is another's
   */
  async finish(manager: EntityManager, holder: string): Promise<Snapshot | null> {
    const { affected } = await manager.update(DiscoveryStateEntity, { name: NAME, holder }, { holder: null });
    if (affected !== 1) {
      throw new ScanFailedError('DISCOVERY_LOST');
    }
    const { snapshot } = await manager.findOneByOrFail(DiscoveryStateEntity, { name: NAME });
    return snapshot === null ? null : (JSON.parse(snapshot) as Snapshot);
  }

  async storeSnapshot(manager: EntityManager, snapshot: Snapshot): Promise<void> {
    await manager.update(DiscoveryStateEntity, { name: NAME }, { snapshot: JSON.stringify(snapshot) });
  }

  private async insertFirst(): Promise<void> {
    try {
      await this.database.write((manager) =>
        manager.insert(DiscoveryStateEntity, {
          name: NAME,
          begun: 0,
          holder: null,
          heldUntil: LONG_AGO,
          snapshot: null,
        }),
      );
    } catch (error) {
      // Another replica was first; its row serves both.
      if (!isDuplicate(error)) {
        throw error;
      }
    }
  }
}
