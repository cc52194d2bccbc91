import { Injectable } from '@nestjs/common';
import { IsNull, Raw, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { DatabaseTime } from '../../store/tables/database-time.js';
import { Database } from '../../store/database.js';
import { isDuplicate } from '../../store/connection/driver-errors.js';
import { ScanFailedError } from '../model/failures.js';
import type { Snapshot } from '../findings/snapshot.js';
import { DiscoveryStateEntity } from './discovery.entity.js';

const NAME = 'scan';
const LONG_AGO = new Date(0);

type Where = FindOptionsWhere<DiscoveryStateEntity> | FindOptionsWhere<DiscoveryStateEntity>[];

/** Whose turn it is. */
interface ScanTurn {
  /** Number of the last started scan; 0 before the first. */
  begun: number;
  /** Whether no scan is running. */
  isFree: boolean;
}

/**
 * Ensures that only one replica scans at any time. Scans are numbered when they start, so "began after my request" compares numbers and
 * needs no clocks: a request reads the number when it arrives and waits for a scan with a higher one. The scanning replica holds a lease,
 * measured by the database clock, which it renews, so a crash does not block others.
 */
@Injectable()
export class ScanTurnsRepository {
  /** Reads the state of the turns; concurrent callers share one query. */
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
    const find = (where: Where) =>
      manager.findOne(DiscoveryStateEntity, { select: { name: true, begun: true }, where });
    const free = await find(this.free({}));
    const held = free === null ? await find({ name: NAME }) : null;
    return [{ begun: (free ?? held)?.begun ?? 0, isFree: held === null }];
  }

  /** Returns conditions that match the row while no replica holds the lease. */
  private free(where: { begun?: number }): FindOptionsWhere<DiscoveryStateEntity>[] {
    const heldUntil = Raw((column) => `${column} <= ${this.time.at()}`);
    return [{ holder: IsNull() }, { heldUntil }].map((lease) => ({ name: NAME, ...where, ...lease }));
  }

  /**
   * Starts the scan number `begun + 1`, unless another replica has started one.
   * @param holder new unique id
   * @returns whether the turn was claimed
   */
  async claim(begun: number, holder: string, leaseMs: number): Promise<boolean> {
    if (begun === 0) {
      await this.insertFirst();
    }
    return this.hold(this.free({ begun }), { holder, begun: begun + 1 }, leaseMs);
  }

  /** Renews the lease. Returns false when another replica holds it. */
  async renew(holder: string, leaseMs: number): Promise<boolean> {
    return this.hold({ name: NAME, holder }, {}, leaseMs);
  }

  /** Extends the lease if the row meets a condition. @returns whether it did */
  private async hold(
    where: Where,
    changes: Partial<DiscoveryStateEntity>,
    leaseMs: number,
  ): Promise<boolean> {
    const heldUntil = (): string => this.time.at(leaseMs);
    const { affected } = await this.database.write((manager) =>
      manager.update(DiscoveryStateEntity, where, { ...changes, heldUntil }),
    );
    return affected === 1;
  }

  async release(holder: string): Promise<void> {
    await this.database.write((manager) =>
      manager.update(DiscoveryStateEntity, { name: NAME, holder }, { holder: null }),
    );
  }

  /**
   * Ends the turn in the transaction that stores the findings; the row stays locked until then.
   * @returns the snapshot of the last completed scan; null before the first
   * @throws ScanFailedError `DISCOVERY_LOST` when another replica holds the lease
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
      // Another replica was first, and its row is used.
      if (!isDuplicate(error)) {
        throw error;
      }
    }
  }
}
