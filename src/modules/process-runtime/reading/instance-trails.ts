import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../../../database/database.js';
import type { HistoryQuery } from '../model/process-instances.types.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { CorrectionsRepository } from '../storage/corrections.repository.js';
import { EventsRepository, type EventRow } from '../storage/events.repository.js';
import type { InstanceHead } from '../storage/instance.row.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { TokensRepository } from '../storage/tokens.repository.js';

/** A part of the audit trail of an instance. */
export interface InstanceTrail {
  definitionId: number;
  events: readonly EventRow[];
  /** Uuids of the tokens that the events name, by id. */
  tokenUuids: Map<number, string>;
}

/** Reads the audit trails of instances. */
@Injectable()
export class InstanceTrails {
  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly events: EventsRepository,
    private readonly tokens: TokensRepository,
    private readonly corrections: CorrectionsRepository,
  ) {}

  /**
   * The events before or after one; without either the newest.
   * @param limit most events
   * @throws ProcessInstanceNotFoundError
   */
  async read(uuid: string, query: HistoryQuery, limit: number): Promise<InstanceTrail> {
    return this.database.read((manager) => this.find(manager, uuid, query, limit));
  }

  /** Events of an instance, with the values that people corrected. */
  async revealed(
    head: Pick<InstanceHead, 'uuid' | 'shard'>,
    events: readonly EventRow[],
  ): Promise<readonly EventRow[]> {
    return this.database.read((manager) => this.corrections.reveal(manager, head, events));
  }

  private async find(
    manager: EntityManager,
    uuid: string,
    { before, after }: HistoryQuery,
    limit: number,
  ): Promise<InstanceTrail> {
    const head = await this.instances.findHead(manager, { uuid });
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
    const events =
      after === undefined
        ? await this.events.before(manager, head.id, before ?? head.seq + 1, limit)
        : await this.events.after(manager, head.id, after, limit);
    const tokens = new Set(events.flatMap(({ tokenId }) => (tokenId === null ? [] : [tokenId])));
    const tokenUuids = await this.tokens.uuids(manager, head.id, [...tokens]);
    const shown = await this.corrections.reveal(manager, head, events);
    return { definitionId: head.definitionId, events: shown, tokenUuids };
  }
}
