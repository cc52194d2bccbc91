import type { InstanceState } from './engine.types.js';

/** An instance before its START command: without data and tokens. */
export function newInstance(identity: {
  readonly id: number;
  readonly uuid: string;
  /** Of the instance that calls it; null for one that nobody called. */
  readonly parentUuid: string | null;
}): InstanceState {
  return {
    id: identity.id,
    uuid: identity.uuid,
    parentUuid: identity.parentUuid,
    state: 'CREATED',
    data: {},
    joins: [],
    returnPoints: [],
    executions: [],
    pending: [],
    continues: 0,
    seq: 0,
    backCounter: 0,
    tokens: new Map(),
  };
}
