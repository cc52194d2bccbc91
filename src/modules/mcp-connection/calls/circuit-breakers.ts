import { RecentlyUsed } from '../../../common/recently-used.js';
import type { Shared } from '../../../common/redis/redis.service.js';

/** How many failures are too many, and for how long nothing is tried then. */
export interface CircuitBreakerOptions {
  /** Failures in a row that open a circuit. */
  failures: number;
  openMs: number;
}

/** `open`: nothing is let through. `half_open`: the time is over, and one trial is let through at a time. */
export type CircuitState = 'open' | 'half_open';

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

const CLOSED_MS = 0;

/**
 * Circuit breakers by key. A party that fails again and again is left alone for a while. So callers do not wait for it, and it
 * can recover. Nothing is kept of parties that work. Where replicas share them, a circuit that one of them opens or closes is open or closed
 * in all, and one trial is let through by all together.
 */
export class CircuitBreakers {
  private readonly circuits = new RecentlyUsed<string, Circuit>({ entries: MAX_CIRCUITS });
  /** Those under way that hold the slot of which all replicas have one. */
  private readonly trials = new Set<string>();

  /**
   * @param now milliseconds of a clock that never goes back
   * @param shared lets other replicas know
   */
  constructor(
    private readonly options: CircuitBreakerOptions,
    private readonly now: () => number = () => performance.now(),
    private readonly shared?: Shared,
  ) {
    shared?.signals.listen('circuit', (items) => items.forEach((item) => this.hear(item)));
  }

  /** Whether a call may go ahead. Whoever may must {@link report} how it ended. */
  admits(key: string): boolean | Promise<boolean> {
    const name = this.nameOf(key);
    const circuit = this.circuits.get(name);
    if (circuit?.openUntil === undefined) {
      return true;
    }
    if (circuit.openUntil > this.now() || circuit.isTried) {
      return false;
    }
    circuit.isTried = true;
    return this.shared === undefined || this.triesForAll(this.shared, name, circuit);
  }

  /** Takes note of how an admitted call ended. */
  report(key: string, verdict: CallVerdict): void {
    const name = this.nameOf(key);
    const circuit = this.circuits.get(name) ?? closed();
    this.endTrial(name, circuit);
    if (verdict === 'works') {
      this.circuits.delete(name);
      if (circuit.openUntil !== undefined) {
        this.tell(name, CLOSED_MS);
      }
    } else if (verdict === 'fails') {
      circuit.failuresInRow += 1;
      const isOpening = circuit.openUntil !== undefined || circuit.failuresInRow >= this.options.failures;
      circuit.openUntil = isOpening ? this.now() + this.options.openMs : undefined;
      this.circuits.set(name, circuit);
      if (isOpening) {
        this.tell(name, this.options.openMs);
      }
    }
  }

  /** How many circuits are in a state. */
  count(state: CircuitState): number {
    const now = this.now();
    let count = 0;
    for (const { openUntil } of this.circuits.values) {
      const isOpen = openUntil !== undefined && openUntil > now;
      count += openUntil !== undefined && isOpen === (state === 'open') ? 1 : 0;
    }
    return count;
  }

  /** What other replicas hear of gives neither the party nor its credentials away. */
  private nameOf(key: string): string {
    return this.shared?.keyOf('circuit', key) ?? key;
  }

  private async triesForAll({ slots }: Shared, name: string, circuit: Circuit): Promise<boolean> {
    if (!(await slots.take(name, 1))) {
      circuit.isTried = false;
    } else if (circuit.isTried) {
      this.trials.add(name);
    } else {
      // A call that was under way before was reported meanwhile.
      slots.leave(name);
    }
    return circuit.isTried;
  }

  private endTrial(name: string, circuit: Circuit): void {
    circuit.isTried = false;
    if (this.trials.delete(name)) {
      this.shared?.slots.leave(name);
    }
  }

  private tell(name: string, openMs: number): void {
    this.shared?.signals.tell('circuit', `${name} ${openMs}`);
  }

  private hear(item: string): void {
    const [name = '', ms] = item.split(' ');
    const openMs = Number(ms);
    if (openMs === CLOSED_MS) {
      this.circuits.delete(name);
      return;
    }
    const circuit = this.circuits.get(name) ?? closed();
    circuit.failuresInRow = Math.max(circuit.failuresInRow, this.options.failures);
    circuit.openUntil = this.now() + openMs;
    this.circuits.set(name, circuit);
  }
}

function closed(): Circuit {
  return { failuresInRow: 0, openUntil: undefined, isTried: false };
}
