import type { EntityManager } from 'typeorm';

const NOTED = new WeakMap<EntityManager, (() => void)[]>();

/**
 * Calls something once the work that was given this manager is stored. A process that dies before that never does, so it is for
 * what only saves time. It must not throw.
 */
export function afterCommit(manager: EntityManager, call: () => void): void {
  const noted = NOTED.get(manager);
  if (noted === undefined) {
    NOTED.set(manager, [call]);
  } else {
    noted.push(call);
  }
}

/** Work whose last manager is known: that of the attempt which was stored. */
export interface FollowedWork<T> {
  run: (manager: EntityManager) => Promise<T>;
  /** To be called when the work is stored. */
  stored: () => void;
}

/** Follows work, so that it is known what to call after its commit. */
export function followed<T>(work: (manager: EntityManager) => Promise<T>): FollowedWork<T> {
  let last: EntityManager | undefined;
  return {
    run: (manager) => {
      last = manager;
      return work(manager);
    },
    stored: () => {
      if (last !== undefined) {
        NOTED.get(last)?.forEach((call) => call());
      }
    },
  };
}
