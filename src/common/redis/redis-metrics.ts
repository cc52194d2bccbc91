import { Counter, Gauge, type Registry } from 'prom-client';

/** What Redis is wanted for, in metrics. */
interface RedisUse {
  /** Begin of the names of both metrics. */
  name: string;
  /** What Redis does, and what this replica does without it: `Redis …, 0 while this replica …`. */
  does: string;
  otherwise: string;
}

/** Whether Redis does it, as far as this replica knows, and how often it did not, by code. */
interface Answers {
  readonly isReady: boolean;
  readonly failures: ReadonlyMap<string, number>;
}

/** Shows whether Redis does what is wanted of it, and how often it did not. */
export function showAnswers(registry: Registry, { name, does, otherwise }: RedisUse, answers: Answers): void {
  registry.registerMetric(
    new Gauge({
      name: `${name}_in_use`,
      help: `1 while Redis ${does}, 0 while this replica ${otherwise} because Redis is away, silent or refuses. None without REDIS_URL.`,
      registers: [],
      collect() {
        this.set(answers.isReady ? 1 : 0);
      },
    }),
  );
  registry.registerMetric(
    new Counter({
      name: `${name}_failures_total`,
      help: `How often Redis did not do what it was asked where it ${does}, by code: TIMEOUT, or the first word of its answer. None without REDIS_URL.`,
      labelNames: ['code'],
      registers: [],
      collect() {
        this.reset();
        answers.failures.forEach((count, code) => this.inc({ code }, count));
      },
    }),
  );
}
