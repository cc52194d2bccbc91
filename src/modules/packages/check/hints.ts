import { nearestName } from '../../../common/nearest-name.js';

/** Names that are looked for near one that is wrong: each is compared with it. */
const MAX_NAMES = 1_000;

/** Says what an author most likely meant. Bounded: a hostile package could ask a million times. */
export class Hints {
  private left = 50;

  /**
   * The end of a sentence that tells the nearest name: ` Did you mean "score"?`, or nothing.
   * @param names asked for only while there is a hint left: they can be many
   */
  didYouMean(name: string, names: () => readonly string[]): string {
    this.left -= 1;
    const nearest = this.left < 0 ? undefined : nearestName(name, names().slice(0, MAX_NAMES));
    return nearest === undefined || nearest === name ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
  }
}
