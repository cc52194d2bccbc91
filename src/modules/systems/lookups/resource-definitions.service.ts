import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { SystemEntity } from '../storage/system.entity.js';
import { SystemsRepository } from '../storage/systems.repository.js';

/** What systems of one name share in all versions of an application. */
@Injectable()
export class ResourceDefinitionsService {
  constructor(private readonly systems: SystemsRepository) {}

  /**
   * Keeps everybody else from deciding on tools of a definition until the transaction ends. To be called after the version and
   * the system are locked.
   * @param system of the definition
   * @returns whether tools of any of its systems were ever stored
   */
  async lock(
    manager: EntityManager,
    { resourceDefinitionId: id }: Pick<SystemEntity, 'resourceDefinitionId'>,
  ): Promise<{ wasSynchronised: boolean }> {
    const definition = await this.systems.lockDefinition(manager, id);
    return { wasSynchronised: definition !== null && definition.toolsSynchronisedAt !== null };
  }

  /** Notes that tools of a locked definition are stored now for the first time. */
  async markSynchronised(manager: EntityManager, id: string, now: Date): Promise<void> {
    await this.systems.markSynchronised(manager, id, now);
  }
}
