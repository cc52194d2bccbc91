import { Injectable, type OnModuleInit } from '@nestjs/common';
import { jsonSize, type JsonObject } from '../../../common/json.js';
import { Database } from '../../../database/database.js';
import type { Payer } from '../../quotas/model/quota.types.js';
import { QuotasService } from '../../quotas/accounts/quotas.service.js';
import { InstancesRepository } from '../storage/instances.repository.js';
import type { InstanceHead } from '../storage/instance.row.js';

type Owner = Pick<InstanceHead, 'rootAppId' | 'starter'>;

/** Who pays for an instance: the application at the top of the calls, and who started that. */
export function payerOf({ rootAppId, starter }: Owner): Payer {
  return { appId: rootAppId, caller: starter };
}

/** Quotas of what processes do. */
@Injectable()
export class ProcessQuotas implements OnModuleInit {
  constructor(
    private readonly quotas: QuotasService,
    private readonly database: Database,
    private readonly instances: InstancesRepository,
  ) {}

  onModuleInit(): void {
    this.quotas.countJobsWith(() => this.database.read((manager) => this.instances.jobsByPayer(manager)));
  }

  /**
   * @param isCall whether a background job starts it, which is open meanwhile
   * @returns gives back what was used, when no instance was stored
   * @throws QuotaExceededError when no instance with this data may start
   */
  async demandStart(owner: Owner, data: JsonObject, isCall: boolean): Promise<() => void> {
    const amounts = this.quotas.has('DATA_BYTES') ? { DATA_BYTES: jsonSize(data) } : {};
    return this.quotas.demand(payerOf(owner), { STARTS: 1, ...amounts }, isCall ? 1 : 0);
  }

  /** Makes `demandWork` know how much is open now; before the transaction. */
  async refresh(): Promise<void> {
    await this.quotas.refreshJobs();
  }

  /** @throws QuotaExceededError when nobody may add to the work of an instance */
  demandWork(owner: Owner): void {
    this.quotas.demandRoom(payerOf(owner), 'DATA_BYTES');
  }

  /** Counts what the data of an instance has grown by. */
  grown(owner: Owner, before: JsonObject, after: JsonObject): void {
    if (before !== after && this.quotas.has('DATA_BYTES')) {
      this.quotas.charge(payerOf(owner), 'DATA_BYTES', jsonSize(after) - jsonSize(before));
    }
  }
}
