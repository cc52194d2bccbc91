import { Injectable } from '@nestjs/common';
import { LessThan, type EntityManager } from 'typeorm';
import { isDuplicate } from '../../../database/driver-errors.js';
import { Table } from '../../../database/table.js';
import { BuildRepeatEntity } from './build-repeat.entity.js';

const REPEATS = new Table(BuildRepeatEntity);
const BUILD = REPEATS.select('buildId');

/** Which builds were made by calls that may be sent again. */
@Injectable()
export class BuildRepeatsRepository {
  /** The build that a call has made; undefined when none has. */
  async find(manager: EntityManager, keyHash: string): Promise<string | undefined> {
    return (await BUILD.first(manager, { keyHash }))?.buildId;
  }

  /** @returns false when an equal call was first; waits for one that is still under way */
  async insert(manager: EntityManager, repeat: BuildRepeatEntity): Promise<boolean> {
    try {
      await REPEATS.insert(manager, [repeat]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) {
        return false;
      }
      throw error;
    }
  }

  /** Removes what was stored before, at most `limit`; returns how many. */
  async removeBefore(manager: EntityManager, time: Date, limit: number): Promise<number> {
    const found = { order: { createdAt: 'ASC' }, limit } as const;
    return REPEATS.deleteFirst(manager, 'keyHash', { createdAt: LessThan(time) }, found);
  }
}
