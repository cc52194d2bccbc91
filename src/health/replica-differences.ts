import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { IsNull, MoreThan, Not } from 'typeorm';
import { canonicalJson } from '../platform/json/canonical-json.js';
import { Clock } from '../platform/clock.js';
import { Log } from '../platform/observability/logging/log.js';
import { Metrics } from '../platform/observability/metrics/metrics.js';
import { KeyedNames } from '../platform/secrets/keyed-names.js';
import { SERVICE_VERSION } from '../platform/service-version.js';
import { Env } from '../platform/config/env.js';
import { SECURITY_SETTINGS } from './security-settings.js';
import { Database } from '../store/database.js';
import { WriteProofEntity } from '../store/write-proof.entity.js';

/** Age up to which rows of other replicas count. */
const RECENT_MS = 60_000;
const CHECK_MS = 5_000;

/** What can differ between replicas. */
export type Difference = 'release' | 'settings';

/** Detects other replicas with a different release or, by a keyed hash, different security settings. */
@Injectable()
export class ReplicaDifferences implements BeforeApplicationShutdown {
  /** Columns that this replica writes. */
  readonly facts: Pick<WriteProofEntity, 'serviceRelease' | 'settingsHash'>;
  private counts: Readonly<Record<Difference, number>> = { release: 0, settings: 0 };
  private checkedAt = Number.NEGATIVE_INFINITY;
  private slot: number | undefined;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly log: Log,
    { registry }: Metrics,
    env: Env,
  ) {
    const values = SECURITY_SETTINGS.map((name) => env.variable(name) ?? null);
    const settingsHash = new KeyedNames(env.get('SECRETS_KEYS')).of(canonicalJson(values));
    this.facts = { serviceRelease: SERVICE_VERSION, settingsHash };
    const counts = (): Readonly<Record<Difference, number>> => this.counts;
    registry.registerMetric(
      new Gauge({
        name: 'svc_replicas_differing',
        help: 'Other replicas whose release or security settings differ from those of this one.',
        labelNames: ['in'],
        registers: [],
        collect() {
          Object.entries(counts()).forEach(([name, count]) => this.set({ in: name }, count));
        },
      }),
    );
  }

  /** Known differences of other replicas from this one. */
  get now(): Difference[] {
    return (['release', 'settings'] as const).filter((name) => this.counts[name] > 0);
  }

  /** Compares this replica with the others, at most every few seconds. @param slot slot of this replica */
  async check(slot: number): Promise<void> {
    this.slot = slot;
    if (performance.now() - this.checkedAt < CHECK_MS) {
      return;
    }
    this.checkedAt = performance.now();
    const recent = new Date(this.clock.now().getTime() - RECENT_MS);
    const where = { writtenAt: MoreThan(recent), settingsHash: Not(IsNull()) };
    const rows = await this.database.read((manager) => manager.findBy(WriteProofEntity, where));
    const { serviceRelease, settingsHash } = this.facts;
    this.learn({
      release: rows.filter((row) => row.serviceRelease !== serviceRelease).length,
      settings: rows.filter((row) => row.settingsHash !== settingsHash).length,
    });
  }

  /** Clears the columns, so that a stopped replica no longer counts as different. */
  async beforeApplicationShutdown(): Promise<void> {
    const { slot } = this;
    if (slot !== undefined) {
      const none = { serviceRelease: null, settingsHash: null };
      await this.database
        .write((manager) => manager.update(WriteProofEntity, { slot, ...this.facts }, none))
        .catch(() => undefined);
    }
  }

  private learn(counts: Readonly<Record<Difference, number>>): void {
    const before = this.now.join();
    this.counts = counts;
    const differs = this.now.join();
    if (differs !== before && differs !== '') {
      this.log.warn('replicas differ', { differs, ...counts });
    } else if (differs !== before) {
      this.log.info('replicas agree');
    }
  }
}
