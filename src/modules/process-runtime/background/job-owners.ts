import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import type { Job } from '../../jobs/model/job-queue.types.js';
import type { InstanceHead } from '../storage/instance.row.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import { TokensRepository } from '../storage/tokens.repository.js';
import { ownerOf } from './token-job.handlers.js';

/** Finds the instance that a job belongs to, outside of a step. */
@Injectable()
export class JobOwners {
  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
    private readonly tokens: TokensRepository,
  ) {}

  /** @returns null when it has been removed */
  async find(job: Job): Promise<InstanceHead | null> {
    return this.database.read((manager) => this.instances.findHead(manager, { id: ownerOf(job) }));
  }

  /** The instance, as long as the token is active on the visit that the job was asked for. */
  async findAt(
    job: Job,
    { tokenId, visit }: { tokenId: number; visit: number },
  ): Promise<InstanceHead | null> {
    return this.database.read(async (manager) => {
      const [token] = await this.tokens.byIds(manager, ownerOf(job), [tokenId]);
      return token?.state.visit === visit && token.state.state === 'ACTIVE'
        ? this.instances.findHead(manager, { id: ownerOf(job) })
        : null;
    });
  }
}
