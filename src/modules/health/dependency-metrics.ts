import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { TrustedIssuer } from '../../common/auth/trusted-issuer.js';
import { Metrics } from '../../common/metrics/metrics.js';
import { poolState } from '../../database/pool-state.js';

/** What the service knows of the parties it cannot do without, read whenever somebody asks for the metrics. */
@Injectable()
export class DependencyMetrics {
  constructor({ registry }: Metrics, dataSource: DataSource, trusted: TrustedIssuer) {
    registry.registerMetric(poolGauge(dataSource));
    registry.registerMetric(keyAgeGauge(trusted));
  }
}

function poolGauge(dataSource: DataSource): Gauge {
  return new Gauge({
    name: 'svc_database_pool_connections',
    help: 'Connections of the database pool; "waiting" are requests for one. Absent for the embedded database.',
    labelNames: ['state'],
    registers: [],
    collect() {
      for (const [state, count] of Object.entries(poolState(dataSource) ?? {})) {
        this.set({ state }, count);
      }
    },
  });
}

function keyAgeGauge(trusted: TrustedIssuer): Gauge {
  return new Gauge({
    name: 'svc_oidc_keys_age_seconds',
    help: 'Age of the signing keys of the token issuer; -1 when there are none to use.',
    registers: [],
    collect() {
      this.set(trusted.keys.ageSeconds() ?? -1);
    },
  });
}
