import { Module } from '@nestjs/common';
import { QuotaMetrics } from './accounts/quota-metrics.js';
import { QuotasService } from './accounts/quotas.service.js';
import { QuotaUsesRepository } from './storage/quota-uses.repository.js';

/** Quotas of applications and callers. */
@Module({
  providers: [QuotaMetrics, QuotasService, QuotaUsesRepository],
  exports: [QuotasService],
})
export class QuotasModule {}
