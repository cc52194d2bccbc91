import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Database } from '../database.js';
import { sqlTime } from './table-columns.js';

const MICROSECONDS = 1_000;
const DAY_MS = 86_400_000;

/**
 * Clock for leases, as SQL without parameters. It is the server's clock on MySQL and MariaDB, because the clocks of replicas
 * differ. For the embedded file, which a single process uses, it is the clock of the process.
 */
@Injectable()
export class DatabaseTime {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Returns the current time as SQL. @param ms offset in milliseconds */
  at(ms = 0): string {
    return this.database.isEmbedded
      ? `'${sqlTime(this.date(ms))}'`
      : `UTC_TIMESTAMP(3) + INTERVAL ${Math.round(ms) * MICROSECONDS} MICROSECOND`;
  }

  /**
   * Returns the current time as a new value of a column, see `Changes`.
   * @param ms offset in milliseconds
   */
  value(ms = 0): Date | (() => string) {
    return this.database.isEmbedded ? this.date(ms) : () => this.at(ms);
  }

  /** Returns the milliseconds from now until the time of a column, as SQL. */
  untilMs(column: string): string {
    return this.database.isEmbedded
      ? `(julianday(${column}) - julianday(${this.at()})) * ${DAY_MS}`
      : `TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), ${column}) / ${MICROSECONDS}`;
  }

  private date(fromNowMs: number): Date {
    return new Date(this.clock.now().getTime() + Math.round(fromNowMs));
  }
}
