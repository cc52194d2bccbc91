import type { UserReference } from '../../../../client/src/index.js';
import { texts } from '../../texts/texts.js';

/** Returns the name of a user; null means that a timer or message started the instance. */
export function personOf(user: UserReference | null): string {
  if (user === null) {
    return texts.instances.timerOrMessage;
  }
  const { firstName, lastName, userName } = user;
  return `${firstName} ${lastName}`.trim() || userName;
}
