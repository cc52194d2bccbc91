import { Counter, Gauge, type Registry } from 'prom-client';
import type { Limit } from '../../config/env.js';
import { inScrapeTime } from './in-scrape-time.js';

/** How much of a limit is used at a moment. */
export interface LimitUse {
  /** By all together. */
  readonly all: number;
  /** By the caller, address or process family that uses most of it; absent where the limit is one for all. */
  readonly largest?: number;
}

/** Tells the use of a limit; undefined when it is not known now. */
export type LimitReading = () => LimitUse | undefined | Promise<LimitUse | undefined>;

/** Limits in the metrics, by name. Who it is that reached one is no label. */
export class LimitMetrics {
  private readonly readings = new Map<string, LimitReading>();
  private readonly refusals: Counter<'limit'>;
  private readonly limits: Gauge<'limit'>;

  constructor(registry: Registry) {
    this.refusals = new Counter({
      name: 'svc_limit_refusals_total',
      help: 'How often a limit was the reason for an answer 429, for the end of a connection, or for a step of a process that was not made.',
      labelNames: ['limit'],
      registers: [registry],
    });
    this.limits = new Gauge({
      name: 'svc_limit',
      help: 'The limit of each caller, address or process family, or of this replica; absent where there is none.',
      labelNames: ['limit'],
      registers: [registry],
    });
    registry.registerMetric(useGauge(this.readings));
  }

  /** Shows a limit (0 is none) and, where it can be told, its use. */
  show({ name, most }: Limit, reading?: LimitReading): void {
    this.refusals.inc({ limit: name }, 0);
    if (most > 0) {
      this.limits.set({ limit: name }, most);
    }
    if (reading !== undefined) {
      this.readings.set(name, reading);
    }
  }

  /** Something was refused. */
  refused(name: string): void {
    this.refusals.inc({ limit: name });
  }
}

function useGauge(readings: ReadonlyMap<string, LimitReading>): Gauge<'limit' | 'of'> {
  return new Gauge({
    name: 'svc_limit_use',
    help: 'What is used of a limit: by all together, and by the one that uses most. Of process families in all replicas, otherwise in this one.',
    labelNames: ['limit', 'of'],
    registers: [],
    async collect() {
      this.reset();
      const measure = async (limit: string, reading: LimitReading): Promise<void> => {
        const { all, largest } = (await reading()) ?? {};
        for (const [of, use] of Object.entries({ all, largest })) {
          if (use !== undefined) {
            this.set({ limit, of }, use);
          }
        }
      };
      await Promise.all([...readings].map(([limit, reading]) => inScrapeTime(measure(limit, reading))));
    },
  });
}

/** The use of a limit that each of several has. */
export function useOf(amounts: Iterable<number>): LimitUse {
  let [all, largest] = [0, 0];
  for (const amount of amounts) {
    all += amount;
    largest = Math.max(largest, amount);
  }
  return { all, largest };
}
