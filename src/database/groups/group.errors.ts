/** A member cannot go on in its group, and has written nothing. Never leaves `Database`. */
export class FellOutError extends Error {
  override readonly name = 'FellOutError';
  /** @param to where its work is done instead: in the next group, or in a transaction of its own */
  constructor(readonly to: 'NEXT' | 'ALONE') {
    super('Not in this group.');
  }
}

/** The transaction of a group must be rolled back; `cause` tells why. Never leaves `Database`. */
export class GroupBrokenError extends Error {
  override readonly name = 'GroupBrokenError';
  constructor(cause: unknown) {
    super('The group was broken.', { cause });
  }
}
