import { ServiceError, type ToolReview } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { NoVersionError } from '../../live/versions.js';
import { explain } from '../../parts/explain.js';
import { texts } from '../../texts/texts.js';
import { Switches, type SwitchPath } from './use-switches.js';

const CHANGED = 412;

/** Tools as they are shown to somebody who decides about all of them. */
export interface ShownReviews {
  path: SwitchPath;
  reviews: readonly ToolReview[];
  /** Of the system as it is shown. */
  version: string;
  /** Tools in a page of the list. */
  limit: number;
}

/**
 * Decides about tools one after the other. Where something of the system has changed meanwhile, it goes on with those tools that are
 * still defined as they are shown.
 */
export class DecideAll {
  /** Of their own: what is shown beside this stays out of date until it is read again. */
  private readonly switches: Switches;
  private present: readonly ToolReview[];

  constructor(private readonly shown: ShownReviews) {
    this.switches = new Switches(shown.path, shown.version);
    this.present = shown.reviews;
  }

  /** @returns why nothing was decided; undefined when it was */
  async decide(review: ToolReview, enabled: boolean): Promise<string | undefined> {
    try {
      return (await this.isDecided(review, enabled)) ? undefined : texts.systems.otherNow;
    } catch (error) {
      const { title, said = '' } = explain(error);
      return `${title}. ${said}`;
    }
  }

  private async isDecided(review: ToolReview, enabled: boolean): Promise<boolean> {
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
    this.present = data.reviews;
    this.switches.shown(data.systemTag);
    if (!this.isAsShown(review)) {
      return false;
    }
    await this.switches.switch(review.toolId, enabled);
    return true;
  }

  private isAsShown({ toolId, definition }: ToolReview): boolean {
    const now = this.present.find((one) => one.toolId === toolId);
    return now?.definition.definitionHash === definition.definitionHash;
  }
}

function isOutOfDate(error: unknown): boolean {
  return error instanceof NoVersionError || (error instanceof ServiceError && error.status === CHANGED);
}
