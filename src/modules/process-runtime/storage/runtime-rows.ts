import { Injectable } from '@nestjs/common';
import { EventsRepository } from './events.repository.js';
import { IncidentsRepository } from './incidents.repository.js';
import { InstancesRepository } from './instances.repository.js';
import { MessagesRepository } from './messages.repository.js';
import { RepeatsRepository } from './repeats.repository.js';
import { TokensRepository } from './tokens.repository.js';

/** The rows of running processes, table by table. */
@Injectable()
export class RuntimeRows {
  constructor(
    readonly instances: InstancesRepository,
    readonly tokens: TokensRepository,
    readonly events: EventsRepository,
    readonly incidents: IncidentsRepository,
    readonly messages: MessagesRepository,
    readonly repeats: RepeatsRepository,
  ) {}
}
