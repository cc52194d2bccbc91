import { LruCache } from '../../../platform/lru-cache.js';

/** `open`: no calls are admitted. `half_open`: the open time is over, and only one trial call is admitted. */
type CircuitState = 'open' | 'half_open';

/** What a finished call says about the other party. */
export type CallVerdict = 'works' | 'fails' | 'unknown';

interface Circuit {
  failuresInRow: number;
  /** Time until which no calls are admitted; undefined while the circuit is closed. */
  openUntil: number | undefined;
  isOnTrial: boolean;
}

/** Maximum number of circuits in memory; the least recently used are forgotten first. */
const MAX_CIRCUITS = 10_000;

/** Circuit breakers by key. They stop calls to a party for a while after consecutive failures. */
export class CircuitBreakers {
  private readonly circuits = new LruCache<string, Circuit>({ entries: MAX_CIRCUITS });

  /** @param options consecutive failures that open a circuit, and for how long @param now monotonic clock in milliseconds */
  constructor(
    private readonly options: { failures: number; openMs: number },
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Returns whether a call is admitted. Callers must {@link report} the outcome of admitted calls. */
  admits(key: string): boolean {
    const circuit = this.circuits.get(key);
    if (circuit?.openUntil === undefined) {
      return true;
    }
    if (circuit.openUntil > this.now() || circuit.isOnTrial) {
      return false;
    }
    circuit.isOnTrial = true;
    return true;
  }

  /** Records the outcome of an admitted call. */
  report(key: string, verdict: CallVerdict): void {
    const circuit = this.circuits.get(key) ?? { failuresInRow: 0, openUntil: undefined, isOnTrial: false };
    circuit.isOnTrial = false;
    if (verdict === 'works') {
      this.circuits.delete(key);
    } else if (verdict === 'fails') {
      circuit.failuresInRow += 1;
      const isOpening = circuit.openUntil !== undefined || circuit.failuresInRow >= this.options.failures;
      circuit.openUntil = isOpening ? this.now() + this.options.openMs : undefined;
      this.circuits.set(key, circuit);
    }
  }

  /** Counts the circuits in a state. */
  count(state: CircuitState): number {
    const now = this.now();
    const circuits = [...this.circuits.values].filter(
      ({ openUntil }) => openUntil !== undefined && openUntil > now === (state === 'open'),
    );
    return circuits.length;
  }
}
