import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { withinScrapeTime, Metrics } from '../../platform/observability/metrics/metrics.js';
import type { ServiceDto } from '../model/discovery-result.dto.js';
import { ScanStore, type StoredScanDetails } from '../storage/scan-store.js';

const MILLISECONDS = 1_000;
const LABELS = ['map', 'key'] as const;
type Label = (typeof LABELS)[number];
type Entry = Pick<ServiceDto, 'status' | 'lastHealthCheck'>;

/** Metrics of the components of the last completed scan, regardless of which replica made it. */
@Injectable()
export class DiscoveryMetrics {
  private last: StoredScanDetails | null = null;

  constructor(
    { registry }: Metrics,
    private readonly store: ScanStore,
  ) {
    const gauge = (name: string, help: string, valueOf: (entry: Entry) => number): void => {
      const collect = async (): Promise<void> => {
        made.reset();
        await withinScrapeTime(this.measure(made, valueOf));
      };
      const made: Gauge<Label> = new Gauge({ name, help, labelNames: LABELS, registers: [], collect });
      registry.registerMetric(made);
    };
    gauge(
      'svc_discovery_component_up',
      '1 for a healthy component of the last scan, 0 for others.',
      ({ status }) => (status === 'healthy' ? 1 : 0),
    );
    gauge(
      'svc_discovery_component_last_check_timestamp_seconds',
      'When a component of the last scan was checked.',
      ({ lastHealthCheck }) => Date.parse(lastHealthCheck) / MILLISECONDS,
    );
  }

  private async measure(target: Gauge<Label>, valueOf: (entry: Entry) => number): Promise<void> {
    // The result of a scan is large and never changes, so read it only once.
    this.last = (await this.store.newestAfter(this.last?.id ?? 0)) ?? this.last;
    if (this.last !== null) {
      const { services, infrastructure, externalIntegrations } = this.last.result;
      for (const [map, entries] of Object.entries({ services, infrastructure, externalIntegrations })) {
        Object.entries(entries).forEach(([key, entry]) => target.set({ map, key }, valueOf(entry)));
      }
    }
  }
}
