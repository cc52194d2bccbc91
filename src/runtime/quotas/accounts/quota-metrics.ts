import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Metrics } from '../../../platform/observability/metrics/metrics.js';
import type { Quota } from '../model/quota.types.js';

const LABELS = ['kind', 'scope'] as const;

/** Quotas in the metrics: by kind and by whether applications or callers have them. Who it is, is in the log. */
@Injectable()
export class QuotaMetrics {
  private readonly refusals: Counter<'kind' | 'scope'>;

  constructor(private readonly metrics: Metrics) {
    this.refusals = new Counter({
      name: 'svc_quota_refusals_total',
      help: 'How often something was refused or stopped because a quota was used up.',
      labelNames: LABELS,
      registers: [metrics.registry],
    });
  }

  /** Shows the quotas that there are. @param share of one quota, 1 for all of it */
  show(quotas: readonly Quota[], share: (quota: Quota) => number): void {
    const { registry } = this.metrics;
    const limits = new Gauge({
      name: 'svc_quota_limit',
      help: 'Quota of each application or caller; absent for one that is not set.',
      labelNames: LABELS,
      registers: [registry],
    });
    quotas.forEach(({ kind, scope, limit }) => limits.set({ kind, scope }, limit));
    const shares = new Gauge({
      name: 'svc_quota_largest_share',
      help: 'Share of its quota that the application or caller has used which has used most, as far as this replica knows.',
      labelNames: LABELS,
      registers: [],
      collect: () => {
        quotas.forEach((quota) => shares.set({ kind: quota.kind, scope: quota.scope }, share(quota)));
      },
    });
    registry.registerMetric(shares);
  }

  /** Something was refused. */
  refused({ kind, scope }: Quota): void {
    this.refusals.inc({ kind, scope });
  }
}
