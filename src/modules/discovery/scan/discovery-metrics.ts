import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { inScrapeTime } from '../../../common/metrics/metrics.js';
import { Metrics } from '../../../common/metrics/metrics.js';
import type { ServiceDto } from '../model/discovery-result.dto.js';
import { ScanStore, type StoredScanDetails } from '../storage/scan-store.js';

const MILLISECONDS = 1_000;
const LABELS = ['map', 'key'] as const;
type Label = (typeof LABELS)[number];
type Entry = Pick<ServiceDto, 'status' | 'lastHealthCheck'>;

/** The components of the last completed scan, whichever replica made it. */
@Injectable()
export class DiscoveryMetrics {
  private last: StoredScanDetails | null = null;

  constructor(
    { registry }: Metrics,
    private readonly store: ScanStore,
  ) {
    const up = gauge(
      'svc_discovery_component_up',
      '1 for a healthy component of the last scan, 0 for others.',
      () => this.fill(up, ({ status }) => (status === 'healthy' ? 1 : 0)),
    );
    const checked = gauge(
      'svc_discovery_component_last_check_timestamp_seconds',
      'When a component of the last scan was checked.',
      () => this.fill(checked, ({ lastHealthCheck }) => Date.parse(lastHealthCheck) / MILLISECONDS),
    );
    registry.registerMetric(up);
    registry.registerMetric(checked);
  }

  private async fill(target: Gauge<Label>, valueOf: (entry: Entry) => number): Promise<void> {
    target.reset();
    await inScrapeTime(this.measure(target, valueOf));
  }

  private async measure(target: Gauge<Label>, valueOf: (entry: Entry) => number): Promise<void> {
    // The answer of a scan is large and never changes, so it is read once.
    this.last = (await this.store.newestAfter(this.last?.id ?? 0)) ?? this.last;
    if (this.last !== null) {
      const { services, infrastructure, externalIntegrations } = this.last.result;
      for (const [map, entries] of Object.entries({ services, infrastructure, externalIntegrations })) {
        Object.entries(entries).forEach(([key, entry]) => target.set({ map, key }, valueOf(entry)));
      }
    }
  }
}

function gauge(name: string, help: string, collect: () => Promise<void>): Gauge<Label> {
  return new Gauge({ name, help, labelNames: LABELS, registers: [], collect });
}
