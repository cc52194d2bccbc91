import { DataSource, type EntityManager } from 'typeorm';
import type { DatabaseHost } from '../../config/database-url.js';
import type { ReplicaOptions } from '../data-source.options.js';
import { sendDirectly } from '../direct-statements.js';
import { setShardGroups } from '../shards.js';
import { Table } from '../table.js';
import { WriteProofEntity } from '../write-proof.entity.js';

const PROOF = new Table(WriteProofEntity).select('writtenAt');

/** One host of `DATABASE_READ_URL`. It is connected when it is first looked at, so that nobody waits for one that is away. */
export class ReadReplica {
  readonly place: DatabaseHost;
  private readonly dataSource: DataSource;
  private opening: Promise<unknown> | undefined;
  private isEnded = false;
  /** When the newest of our proofs that it has was written, as the clock of this process says; it has all that came before. */
  private provenAt: number | undefined;

  /** @param shardGroups as DATABASE_SHARDS says */
  constructor({ place, options }: ReplicaOptions, shardGroups: number) {
    this.place = place;
    this.dataSource = new DataSource(options);
    setShardGroups(this.dataSource, shardGroups);
    sendDirectly(this.dataSource);
  }

  /** For statements on this host. */
  get manager(): EntityManager {
    return this.dataSource.manager;
  }

  /**
   * How old an answer can be, milliseconds; without end while nothing is known.
   * @param now milliseconds since 1970
   */
  age(now: number): number {
    return this.provenAt === undefined ? Number.POSITIVE_INFINITY : now - this.provenAt;
  }

  /**
   * Looks which proof it has.
   * @param slot row of the proof
   * @throws what keeps it from being asked
   */
  async look(slot: number): Promise<void> {
    if (!this.dataSource.isInitialized) {
      this.opening ??= this.dataSource.initialize().finally(() => {
        this.opening = undefined;
      });
      await this.opening;
      await this.endIfAsked();
    }
    const row = await PROOF.first(this.manager, { slot });
    this.provenAt = row?.writtenAt.getTime();
  }

  /** Nothing is known of it until it is looked at again. */
  distrust(): void {
    this.provenAt = undefined;
  }

  async end(): Promise<void> {
    this.isEnded = true;
    await this.endIfAsked();
  }

  private async endIfAsked(): Promise<void> {
    if (this.isEnded && this.dataSource.isInitialized) {
      await this.dataSource.destroy();
    }
  }
}
