import type { EntityManager } from 'typeorm';
import { Table } from '../../../database/table.js';
import { INCIDENT_COUNT_ID as id, IncidentCountEntity } from './process-incident.entity.js';

const COUNTS = new Table(IncidentCountEntity);
const COUNT = COUNTS.select('counts', 'dueAt');
const LONG_AGO = new Date(0);

/** The last count of open incidents, for all replicas. */
export const IncidentCounts = {
  /** Null before the first. */
  async find(manager: EntityManager): Promise<Pick<IncidentCountEntity, 'counts' | 'dueAt'> | null> {
    return COUNT.first(manager, { id });
  },

  /**
   * Takes the turn to count.
   * @param seen when it was due as this replica saw it; null where there was no count
   * @returns false where another replica has it
   */
  async claim(manager: EntityManager, seen: Date | null, dueAt: Date): Promise<boolean> {
    if (seen === null) {
      await COUNTS.ensure(manager, { id, counts: {}, dueAt: LONG_AGO });
    }
    return (await COUNTS.update(manager, { id, dueAt: seen ?? LONG_AGO }, { dueAt })) === 1;
  },

  async store(manager: EntityManager, counts: Record<string, number>, dueAt: Date): Promise<void> {
    await COUNTS.update(manager, { id }, { counts, dueAt });
  },
};
