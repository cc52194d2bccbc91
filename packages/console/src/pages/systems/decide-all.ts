import { ServiceError, type ToolReview } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { MissingEtagError } from '../../live/versions.js';
import { explain } from '../../parts/explain.js';
import { texts } from '../../texts/texts.js';
import { Switches, type SwitchPath } from './use-switches.js';

const CHANGED = 412;

/** Tools shown for a decision about all of them. */
export interface ShownReviews {
  path: SwitchPath;
  reviews: readonly ToolReview[];
  /** ETag of the system as shown. */
  version: string;
  /** Page size of the list. */
  limit: number;
}

/**
 * Decides about tools one by one. If the system has changed in the meantime, continues with the tools whose definitions are still those
 * shown.
 */
export class DecideAll {
  /** Separate from the switches of the page, which stay outdated until it is refreshed. */
  private readonly switches: Switches;
  private current: readonly ToolReview[];

  constructor(private readonly shown: ShownReviews) {
    this.switches = new Switches(shown.path, shown.version);
    this.current = shown.reviews;
  }

  /** Decides about one tool. @returns why that failed, or undefined */
  async decide(review: ToolReview, enabled: boolean): Promise<string | undefined> {
    try {
      return (await this.trySwitch(review, enabled)) ? undefined : texts.systems.outdated;
    } catch (error) {
      const { title, message = '' } = explain(error);
      return `${title}. ${message}`;
    }
  }

  private async trySwitch(review: ToolReview, enabled: boolean): Promise<boolean> {
    if (!this.isAsShown(review)) {
      return false;
    }
    try {
      await this.switches.switch(review.toolId, enabled);
      return true;
    } catch (error) {
      if (!isOutOfDate(error)) {
        throw error;
      }
    }
    const { path, limit } = this.shown;
    const { data } = await api().listToolReviews({ path, query: { limit } });
    this.current = data.reviews;
    this.switches.update(data.systemTag);
    if (!this.isAsShown(review)) {
      return false;
    }
    await this.switches.switch(review.toolId, enabled);
    return true;
  }

  private isAsShown({ toolId, definition }: ToolReview): boolean {
    const now = this.current.find((one) => one.toolId === toolId);
    return now?.definition.definitionHash === definition.definitionHash;
  }
}

function isOutOfDate(error: unknown): boolean {
  return error instanceof MissingEtagError || (error instanceof ServiceError && error.status === CHANGED);
}
