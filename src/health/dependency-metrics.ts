import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { TrustedIssuer } from '../platform/auth/trusted-issuer.js';
import { Metrics } from '../platform/observability/metrics/metrics.js';
import { Database } from '../store/database.js';
import { poolState } from '../store/connection/server-pool.js';

/** What the service knows of the parties it cannot do without, read whenever somebody asks for the metrics. */
@Injectable()
export class DependencyMetrics {
  constructor({ registry }: Metrics, dataSource: DataSource, database: Database, trusted: TrustedIssuer) {
    const metrics = [keysAge(trusted), ...databaseMetrics(dataSource, database)];
    metrics.forEach((metric) => registry.registerMetric<string>(metric));
  }
}

function keysAge(trusted: TrustedIssuer): Gauge {
  return new Gauge({
    name: 'svc_oidc_keys_age_seconds',
    help: 'Age of the signing keys of the token issuer; -1 when there are none to use.',
    registers: [],
    collect() {
      this.set(trusted.keys.ageSeconds() ?? -1);
    },
  });
}

function databaseMetrics(dataSource: DataSource, database: Database): (Gauge | Counter)[] {
  return [
    new Gauge({
      name: 'svc_database_pool_connections',
      help: 'Connections of the database pool; "waiting" are requests for one. Absent for the embedded database.',
      labelNames: ['state'],
      registers: [],
      collect() {
        const states = Object.entries(poolState(dataSource) ?? {});
        states.forEach(([state, count]) => this.set({ state }, count));
      },
    }),
    new Counter({
      name: 'svc_database_groups_total',
      help: 'Transactions that several steps or jobs shared.',
      registers: [],
      collect() {
        this.reset();
        this.inc(database.written.groups);
      },
    }),
    new Counter({
      name: 'svc_database_group_writes_total',
      help: 'Steps and changes of jobs that were stored: in a transaction that several shared, or in one of their own.',
      labelNames: ['transaction'],
      registers: [],
      collect() {
        this.reset();
        this.inc({ transaction: 'shared' }, database.written.shared);
        this.inc({ transaction: 'own' }, database.written.own);
      },
    }),
  ];
}
