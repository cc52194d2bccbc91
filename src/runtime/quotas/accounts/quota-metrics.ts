import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Metrics } from '../../../platform/observability/metrics/metrics.js';
import type { Quota } from '../model/quota.types.js';

const LABELS = ['kind', 'scope'] as const;

/** Metrics of quotas by kind and scope. The log names the application or caller. */
@Injectable()
export class QuotaMetrics {
  private readonly refusals: Counter<'kind' | 'scope'>;

  constructor(private readonly metrics: Metrics) {
    this.refusals = new Counter({
      name: 'svc_quota_refusals_total',
      help: 'Requests refused and work stopped because a quota was used up.',
      labelNames: LABELS,
      registers: [metrics.registry],
    });
  }

  /** Registers the gauges of the configured quotas. @param share returns the used share of a quota, 1 for all of it */
  show(quotas: readonly Quota[], share: (quota: Quota) => number): void {
    const { registry } = this.metrics;
    const limits = new Gauge({
      name: 'svc_quota_limit',
      help: 'Quota of each application or caller; absent if not set.',
      labelNames: LABELS,
      registers: [registry],
    });
    quotas.forEach(({ kind, scope, limit }) => limits.set({ kind, scope }, limit));
    const shares = new Gauge({
      name: 'svc_quota_largest_share',
      help: 'Largest share of a quota used by any one application or caller, as known to this replica.',
      labelNames: LABELS,
      registers: [],
      collect: () => {
        quotas.forEach((quota) => shares.set({ kind: quota.kind, scope: quota.scope }, share(quota)));
      },
    });
    registry.registerMetric(shares);
  }

  /** Counts a refusal. */
  countRefusal({ kind, scope }: Quota): void {
    this.refusals.inc({ kind, scope });
  }
}
