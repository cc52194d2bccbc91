import type { SqlExecutor } from '../../store/groups/shared-transaction.js';
import { Table } from '../../store/tables/table.js';
import { TimerOutboxEntity } from './timer-outbox.entity.js';

const OUTBOX = new Table(TimerOutboxEntity);
const WHOLE = OUTBOX.selectAllBut();

/** Stores scheduled jobs that are not yet in their shards. */
export const TimerOutbox = {
  async insert(executor: SqlExecutor, row: TimerOutboxEntity): Promise<void> {
    await OUTBOX.insert(executor, [row]);
  },

  /** Returns up to `limit` rows, ordered by id. */
  async first(executor: SqlExecutor, limit: number): Promise<TimerOutboxEntity[]> {
    return WHOLE.find(executor, {}, { order: { id: 'ASC' }, limit });
  },

  async delete(executor: SqlExecutor, id: number): Promise<void> {
    await OUTBOX.delete(executor, { id });
  },
};
