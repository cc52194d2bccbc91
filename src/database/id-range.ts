import { InternalError } from '../common/errors/domain.error.js';

/** A transaction used more ids than were reserved for it. A mistake in the code. */
export class IdRangeExhaustedError extends InternalError {
  readonly code = 'ID_RANGE_EXHAUSTED';
  constructor() {
    super('More ids were used than had been reserved.');
  }
}

/** A transaction went on after its ids had been given back, as one does whose caller no longer waits for it. */
export class IdRangeClosedError extends InternalError {
  readonly code = 'ID_RANGE_CLOSED';
  constructor() {
    super('The ids of this transaction have been given back.');
  }
}

/** Consecutive ids that belong to one caller: `first` and the `count - 1` that follow. */
export class IdRange {
  private used = 0;
  private isClosed = false;

  constructor(
    readonly first: number,
    readonly count: number,
    private readonly takeBack: (first: number, count: number) => void,
  ) {}

  /**
   * Starts to take ids from the first one on. A transaction may be run again after a deadlock: call this inside of it,
   * so that every run takes the same ids.
   * @returns function that gives the next id at each call; throws IdRangeExhaustedError when there are none left, and
   * IdRangeClosedError after `giveBack`. Somebody else may have the ids then, so a late transaction must not be
   * committed
   */
  sequence(): () => number {
    let taken = 0;
    return () => {
      if (this.isClosed) {
        throw new IdRangeClosedError();
      }
      if (taken === this.count) {
        throw new IdRangeExhaustedError();
      }
      taken += 1;
      this.used = Math.max(this.used, taken);
      return this.first + taken - 1;
    };
  }

  /** Returns what no sequence took to this replica's stock, and ends every sequence. Optional, once. */
  giveBack(): void {
    this.isClosed = true;
    const [first, count] = [this.first + this.used, this.count - this.used];
    this.used = this.count;
    if (count > 0) {
      this.takeBack(first, count);
    }
  }
}
