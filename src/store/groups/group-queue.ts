import type { ServiceSpan } from '../../platform/observability/tracing/spans.js';
import { DatabaseDeadlineError, DatabaseOverloadedError } from '../database.errors.js';

export interface GroupLimits {
  /** Members of one group; with 1 there are no groups. `groupMax`. */
  members: number;
  groups: number;
  waiting: number;
  waitMs: number;
}

/** A caller that waits for a group. */
export interface Waiting {
  since: number;
  span: ServiceSpan | undefined;
  reject: (error: unknown) => void;
}

/**
 * Forms a group of all callers that queued up while earlier groups ran. So no caller waits for others to arrive, and a single caller is a
 * group of its own.
 */
export class GroupQueue<Member extends Waiting> {
  private readonly waiting: Member[] = [];
  private running = 0;
  private isDue = false;

  /** @param run does the work of a group; must not reject */
  constructor(
    private readonly limits: GroupLimits,
    private readonly run: (members: readonly Member[]) => Promise<void>,
  ) {}

  /**
   * Adds a caller to the queue, in the order of arrival.
   * @throws DatabaseOverloadedError when too many callers wait
   */
  add(member: Member): void {
    if (this.waiting.length >= this.limits.waiting) {
      throw new DatabaseOverloadedError();
    }
    const later = this.waiting.findLastIndex((other) => other.since <= member.since) + 1;
    this.waiting.splice(later, 0, member);
    this.schedule();
  }

  private schedule(): void {
    if (!this.isDue && this.waiting.length > 0 && this.running < this.limits.groups) {
      this.isDue = true;
      // Requests that were read in the same iteration of the event loop share the group.
      setImmediate(() => {
        this.isDue = false;
        this.begin();
      });
    }
  }

  private begin(): void {
    while (this.waiting.length > 0 && this.running < this.limits.groups) {
      const members = this.inTime(this.waiting.splice(0, this.limits.members));
      if (members.length > 0) {
        this.running += 1;
        void this.run(members).finally(() => {
          this.running -= 1;
          this.schedule();
        });
      }
    }
  }

  private inTime(members: readonly Member[]): Member[] {
    const oldest = performance.now() - this.limits.waitMs;
    members
      .filter(({ since }) => since < oldest)
      .forEach(({ reject }) => reject(new DatabaseDeadlineError()));
    return members.filter(({ since }) => since >= oldest);
  }
}
