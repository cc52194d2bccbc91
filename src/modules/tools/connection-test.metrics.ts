import { Injectable } from '@nestjs/common';
import { Metrics } from '../../common/metrics/metrics.js';
import type { ConnectionTest } from './connection-test.service.js';

const CHANGES = ['added', 'changed', 'removed', 'returned'] as const;

/** Counts what connection tests find and what they change. */
@Injectable()
export class ConnectionTestMetrics {
  constructor(private readonly metrics: Metrics) {}

  count({ result, synchronised }: ConnectionTest): void {
    const { outcome } = result;
    const cause = result.outcome === 'connected' ? 'none' : result.cause;
    this.metrics.connectionTests.inc({ outcome, cause });
    this.metrics.connectionTestDuration.observe({ outcome }, result.latencyMs / 1_000);
    for (const { report } of synchronised) {
      for (const change of CHANGES) {
        this.metrics.toolChanges.inc({ change }, report[change].length);
      }
    }
  }
}
