import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { TrustedIssuer } from '../platform/auth/trusted-issuer.js';
import { Metrics } from '../platform/observability/metrics/metrics.js';
import { Database } from '../store/database.js';
import { poolState } from '../store/connection/server-pool.js';

/** Metrics of the token issuer and the database, read at each scrape. */
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
    help: 'Age of the signing keys of the token issuer; -1 when there are no usable keys.',
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
      help: 'Connections of the database pool; "waiting" counts requests for a connection. Absent for the embedded database.',
      labelNames: ['state'],
      registers: [],
      collect() {
        const states = Object.entries(poolState(dataSource) ?? {});
        states.forEach(([state, count]) => this.set({ state }, count));
      },
    }),
    new Counter({
      name: 'svc_database_groups_total',
      help: 'Transactions shared by several steps or jobs.',
      registers: [],
      collect() {
        this.reset();
        this.inc(database.written.groups);
      },
    }),
    new Counter({
      name: 'svc_database_group_writes_total',
      help: 'Stored steps and changes of jobs, in a shared transaction or in their own.',
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
