import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { inScrapeTime, Metrics } from '../../../common/metrics/metrics.js';
import type { StoredScanDetails } from '../model/discovery.types.js';
import type { DiscoveryResult } from '../model/scan.types.js';
import { ScanStore } from '../storage/scan-store.js';

const MILLISECONDS = 1_000;
const LABELS = ['map', 'key'] as const;
type Label = (typeof LABELS)[number];

interface ComponentState extends Record<Label, string> {
  isUp: boolean;
  checkedAt: Date;
}

/**
 * The components of the last completed scan, whichever replica made it, read whenever somebody asks for the metrics. Their
 * labels are keys, of which a scan has `components` at most.
 */
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
      () => this.fill(up, ({ isUp }) => (isUp ? 1 : 0)),
    );
    const checked = gauge(
      'svc_discovery_component_last_check_timestamp_seconds',
      'When a component of the last scan was checked.',
      () => this.fill(checked, ({ checkedAt }) => checkedAt.getTime() / MILLISECONDS),
    );
    registry.registerMetric(up);
    registry.registerMetric(checked);
  }

  private async fill(target: Gauge<Label>, valueOf: (state: ComponentState) => number): Promise<void> {
    target.reset();
    const measure = async (): Promise<void> => {
      for (const state of await this.components()) {
        target.set({ map: state.map, key: state.key }, valueOf(state));
      }
    };
    await inScrapeTime(measure());
  }

  private async components(): Promise<ComponentState[]> {
    // The answer of a scan is large and never changes, so it is read once.
    this.last = (await this.store.newestAfter(this.last?.id ?? 0)) ?? this.last;
    return this.last === null ? [] : statesOf(this.last.result);
  }
}

function gauge(name: string, help: string, collect: () => Promise<void>): Gauge<Label> {
  return new Gauge({ name, help, labelNames: LABELS, registers: [], collect });
}

function statesOf({ services, infrastructure, externalIntegrations }: DiscoveryResult): ComponentState[] {
  return Object.entries({ services, infrastructure, externalIntegrations }).flatMap(([map, entries]) =>
    Object.entries(entries).map(([key, { status, lastHealthCheck }]) => ({
      map,
      key,
      isUp: status === 'healthy',
      checkedAt: new Date(lastHealthCheck),
    })),
  );
}
