import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Clock } from '../../platform/clock.js';
import type { JsonObject } from '#engine/json';
import { withinScrapeTime, Metrics } from '../../platform/observability/metrics/metrics.js';
import { Database } from '../../store/database.js';
import { INCIDENT_TYPES } from '#engine/tokens';
import { IncidentCounts, IncidentLists } from '../storage/incident-lists.repository.js';
import { processLimits } from '../process.limits.js';

const SECOND_MS = 1_000;
/** Pause after a count, as a multiple of its duration. */
const PAUSES = 20;

/**
 * Metric of the open incidents of all replicas. A scraped replica shows the last count of any replica; one replica counts again when that
 * count is old.
 */
@Injectable()
export class IncidentMetrics {
  private readonly intervalMs: number;

  constructor(
    metrics: Metrics,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.intervalMs = processLimits.incidentCountSeconds * SECOND_MS;
    metrics.registry.registerMetric(openGauge((show) => this.read(show)));
  }

  /** Shows the last count, and the new one if this replica counted. */
  private async read(show: (counts: JsonObject) => void): Promise<void> {
    const last = await this.database.read((manager) => IncidentCounts.find(manager));
    // The counts are empty during the very first count.
    if (last !== null && Object.keys(last.counts).length > 0) {
      show(last.counts);
    }
    const now = this.clock.now().getTime();
    if (last === null || last.dueAt.getTime() <= now) {
      const next = new Date(now + this.intervalMs);
      const isOurs = await this.database.writeAside((manager) =>
        IncidentCounts.claim(manager, last?.dueAt ?? null, next),
      );
      if (isOurs) {
        show(await this.count(now));
      }
    }
  }

  private async count(now: number): Promise<Record<string, number>> {
    const began = performance.now();
    const open = await this.database.read((manager) => IncidentLists.openByType(manager));
    const counts = Object.fromEntries(INCIDENT_TYPES.map((type) => [type, open[type] ?? 0]));
    const pause = Math.max(this.intervalMs, PAUSES * (performance.now() - began));
    await this.database.writeAside((manager) => IncidentCounts.store(manager, counts, new Date(now + pause)));
    return counts;
  }
}

function openGauge(read: (show: (counts: JsonObject) => void) => Promise<void>): Gauge<'type'> {
  return new Gauge({
    name: 'svc_process_incidents_open',
    help: 'Open process incidents of all replicas by type, as of the last count. Absent while the database is unavailable.',
    labelNames: ['type'],
    registers: [],
    async collect() {
      this.reset();
      const show = (counts: JsonObject): void => {
        INCIDENT_TYPES.forEach((type) => this.set({ type }, Number(counts[type] ?? 0)));
      };
      await withinScrapeTime(read(show));
    },
  });
}
