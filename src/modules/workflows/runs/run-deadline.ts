import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Joins the caller's signal with the time that a run may take. */
export class RunDeadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly pass = (): void => this.controller.abort(this.outer.reason);

  constructor(
    private readonly outer: AbortSignal,
    milliseconds: number,
  ) {
    const message = `The run took longer than ${milliseconds} ms.`;
    this.timer = setTimeout(
      () => this.controller.abort(new WorkflowFailedError('WORKFLOW_DEADLINE', message)),
      milliseconds,
    );
    outer.addEventListener('abort', this.pass, { once: true });
    if (outer.aborted) {
      this.pass();
    }
  }

  /** Its reason is the caller's, or the failure of the run. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  clear(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener('abort', this.pass);
  }
}
