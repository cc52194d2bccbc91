import type { SystemEntity } from './system.entity.js';

/** A system that nobody else changes until the transaction ends. */
export interface LockedSystem {
  system: SystemEntity;
  /** False in a committed version: then its definition stays as it is. */
  writable: boolean;
}
