import { RecentlyUsed } from '../../../platform/recently-used.js';

/** `open`: nothing is let through. `half_open`: the time is over, and one trial is let through at a time. */
type CircuitState = 'open' | 'half_open';

/** The verdict of a finished call on the other party: it works, it does not, or none. */
export type CallVerdict = 'works' | 'fails' | 'unknown';

interface Circuit {
  failuresInRow: number;
  /** Moment until which nothing is let through; undefined while the circuit is closed. */
  openUntil: number | undefined;
  isTried: boolean;
}

/** Others that failed once long ago are forgotten before this many are remembered. */
const MAX_CIRCUITS = 10_000;

/** Circuit breakers by key. A party that fails again and again is left alone for a while. */
export class CircuitBreakers {
  private readonly circuits = new RecentlyUsed<string, Circuit>({ entries: MAX_CIRCUITS });

  /** @param options failures in a row that open a circuit, and for how long @param now milliseconds of a clock that never goes back */
  constructor(
    private readonly options: { failures: number; openMs: number },
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether a call may go ahead. Whoever may must {@link report} how it ended. */
  admits(key: string): boolean {
    const circuit = this.circuits.get(key);
    if (circuit?.openUntil === undefined) {
      return true;
    }
    if (circuit.openUntil > this.now() || circuit.isTried) {
      return false;
    }
    circuit.isTried = true;
    return true;
  }

  /** Takes note of how an admitted call ended. */
  report(key: string, verdict: CallVerdict): void {
    const circuit = this.circuits.get(key) ?? { failuresInRow: 0, openUntil: undefined, isTried: false };
    circuit.isTried = false;
    if (verdict === 'works') {
      this.circuits.delete(key);
    } else if (verdict === 'fails') {
      circuit.failuresInRow += 1;
      const isOpening = circuit.openUntil !== undefined || circuit.failuresInRow >= this.options.failures;
      circuit.openUntil = isOpening ? this.now() + this.options.openMs : undefined;
      this.circuits.set(key, circuit);
    }
  }

  /** How many circuits are in a state. */
  count(state: CircuitState): number {
    const now = this.now();
    const circuits = [...this.circuits.values].filter(
      ({ openUntil }) => openUntil !== undefined && openUntil > now === (state === 'open'),
    );
    return circuits.length;
  }
}
