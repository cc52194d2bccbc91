import { Injectable } from '@nestjs/common';
import { Env } from '../../../config/env.js';
import { Database } from '../../../database/database.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import { elementOf } from '../definitions/runnable-definition.js';
import { IncidentListsRepository, type IncidentPlace } from '../storage/incident-lists.repository.js';
import { InstancesRepository } from '../storage/instances.repository.js';

/** Fills in where open incidents of an earlier release are, so that they are found as others. */
@Injectable()
export class IncidentPlaces {
  constructor(
    private readonly database: Database,
    private readonly lists: IncidentListsRepository,
    private readonly instances: InstancesRepository,
    private readonly definitions: RunnableDefinitionsService,
    private readonly env: Env,
  ) {}

  /** Goes on until there are none, or the signal is aborted. */
  async fill(signal: AbortSignal): Promise<void> {
    const limit = this.env.get('PROCESS_CLEANUP_ROWS');
    for (let placed = limit; placed === limit && !signal.aborted;) {
      placed = 0;
      const found = await this.database.read((manager) => this.lists.unplaced(manager, limit));
      for (const incident of found) {
        const place = await this.placeOf(incident.instanceId, incident.node);
        if (place !== null) {
          await this.database.write((manager) => this.lists.place(manager, incident, place));
          placed += 1;
        }
      }
    }
  }

  private async placeOf(instanceId: number, node: number | null): Promise<IncidentPlace | null> {
    const head = await this.database.read((manager) => this.instances.findHead(manager, { id: instanceId }));
    if (head === null) {
      return null;
    }
    const { appId, buildId, processName, definitionId } = head;
    const definition = await this.definitions.ifUsable(definitionId);
    const element = definition === undefined ? null : (elementOf(definition, node) ?? null);
    return { appId, buildId, processName, element };
  }
}
