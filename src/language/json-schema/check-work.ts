/** Bounds the work of a check for one process, in steps of its own choice: keys, members and names that it looks at. */
export class CheckWork {
  private left: number;

  constructor(steps: number) {
    this.left = steps;
  }

  /** Whether there is nothing left. */
  get isSpent(): boolean {
    return this.left <= 0;
  }

  /** @returns whether it was there to be spent */
  spend(steps: number): boolean {
    this.left -= steps;
    return this.left >= 0;
  }
}
