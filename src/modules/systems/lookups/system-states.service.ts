import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { SystemState } from '../storage/system.entity.js';
import { SystemsRepository } from '../storage/systems.repository.js';

/** Systems as they are at this moment, for callers who are about to use them. Not inside of a transaction. */
@Injectable()
export class SystemStatesService {
  constructor(
    private readonly database: Database,
    private readonly systems: SystemsRepository,
  ) {}

  /** A system by its id; null when it is gone. */
  async byId(id: string): Promise<SystemState | null> {
    const [found] = await this.database.read((manager) => this.systems.statesById(manager, [id]));
    return found ?? null;
  }

  /** The systems of a version, of all types. */
  async ofVersion(version: AppVersionKey): Promise<SystemState[]> {
    return this.database.read((manager) => this.systems.statesOf(manager, version));
  }
}
