/** How long nothing is heard of the main thread before nobody waits for its answer. */
const BUSY_MS = 90;
const LOOK_MS = 10;
/** A main thread that is well answers sooner, or its own deadlines end. */
const LONGEST_MS = 10_000;

/** What is known, and how old it is. */
export interface Known<Value> {
  readonly value: Value;
  readonly ageMs: number;
}

/** A fact that the main thread knows. While that one is busy, what it said last counts. */
export class LastKnown<Value> {
  private last: { value: Value; at: number } | undefined;
  private isAsked = false;
  private readonly waiting = new Set<() => void>();

  /**
   * @param ask asks the main thread, which says it by `learn`
   * @param silenceMs milliseconds since the main thread gave its last sign of life
   */
  constructor(
    private readonly ask: () => void,
    private readonly silenceMs: () => number,
  ) {}

  /** The main thread has said it. */
  learn(value: Value): void {
    this.last = { value, at: performance.now() };
    this.settle();
  }

  /** The main thread has answered. */
  settle(): void {
    this.isAsked = false;
    this.waiting.forEach((done) => done());
  }

  /** Asks, and waits for as long as the main thread is not busy. Undefined when it never said anything. */
  async latest(): Promise<Known<Value> | undefined> {
    const answered = this.answered();
    if (!this.isAsked) {
      this.isAsked = true;
      this.ask();
    }
    await answered;
    const { last } = this;
    return last && { value: last.value, ageMs: Math.round(performance.now() - last.at) };
  }

  private answered(): Promise<void> {
    const until = performance.now() + LONGEST_MS;
    return new Promise((resolve) => {
      const done = (): void => {
        clearInterval(timer);
        this.waiting.delete(done);
        resolve();
      };
      const look = (): void => {
        if (this.silenceMs() > BUSY_MS || performance.now() > until) {
          done();
        }
      };
      const timer = setInterval(look, LOOK_MS);
      this.waiting.add(done);
      look();
    });
  }
}
