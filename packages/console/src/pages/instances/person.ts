import type { UserReference } from '../../../../client/src/index.js';
import { texts } from '../../texts/texts.js';

/** A person by name; nobody where a timer or a message did it. */
export function personOf(user: UserReference | null): string {
  if (user === null) {
    return texts.instances.nobody;
  }
  const { firstName, lastName, userName } = user;
  return `${firstName} ${lastName}`.trim() || userName;
}
