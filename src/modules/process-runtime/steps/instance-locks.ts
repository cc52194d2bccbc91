import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { holdInGroup, joinGroup } from '../../../database/groups/write-group.js';
import { ShardGroups, shardOf, shardOfUuid } from '../../../database/shards.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';
import { RunnableDefinitionsService } from '../definitions/runnable-definitions.service.js';
import type { InstanceState } from '../engine/state/engine.types.js';
import { DefinitionNotHeldError, ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import type { InstanceRow } from '../storage/instance.row.js';
import { InstancesRepository, type InstanceKey, type LockTime } from '../storage/instances.repository.js';
import type { TokenRow } from '../storage/token.row.js';
import { TokensRepository } from '../storage/tokens.repository.js';
import type { LoadedInstance, LockedInstance } from './step.types.js';

/** What the attempts of one step know of those before. */
export interface Attempts {
  /** Revision of the instance before the first of them waited for anybody. */
  revBefore?: number;
  /** Loaded for this step; by now others may have taken its place among those that are held. */
  definition?: RunnableDefinition;
}

/** Locks instances for a step, with their tokens and their definition. */
@Injectable()
export class InstanceLocks {
  constructor(
    private readonly instances: InstancesRepository,
    private readonly tokens: TokensRepository,
    private readonly definitions: RunnableDefinitionsService,
    private readonly groups: ShardGroups,
  ) {}

  /**
   * Locks an instance; its tokens are read when somebody asks for them.
   * @throws ProcessInstanceNotFoundError
   */
  async lock(manager: EntityManager, key: InstanceKey, attempts: Attempts): Promise<LockedInstance> {
    const found = await this.lockRow(manager, key, attempts);
    const { row } = found;
    const locked = { ...found.locked, revBefore: attempts.revBefore ?? found.locked.revBefore };
    const definition = (): RunnableDefinition => this.definitionOf(row, attempts);
    let loaded: Promise<LoadedInstance> | undefined;
    const load = (): Promise<LoadedInstance> =>
      (loaded ??= this.load(manager, { row, locked, definition: definition() }));
    return { row, locked, definition, load };
  }

  private async lockRow(
    manager: EntityManager,
    key: InstanceKey,
    attempts: Attempts,
  ): Promise<{ row: InstanceRow; locked: LockTime }> {
    // Before anything is asked for: the transaction of a group touches its own shards only.
    joinGroup(manager, this.groups.nameOf('uuid' in key ? shardOfUuid(key.uuid) : shardOf(key.id)));
    const found = await this.instances.lockTimed(manager, key);
    if (found === null) {
      throw new ProcessInstanceNotFoundError();
    }
    attempts.revBefore ??= found.locked.revBefore;
    const hasWaited = await holdInGroup(manager, `instance ${found.row.id}`);
    return (hasWaited ? await this.instances.lockTimed(manager, key) : null) ?? found;
  }

  private definitionOf(row: InstanceRow, { definition: given }: Attempts): RunnableDefinition {
    const isGiven = given?.build.id === row.definitionId;
    const definition = isGiven ? given : this.definitions.held(row.definitionId);
    if (definition === undefined) {
      throw new DefinitionNotHeldError(row.definitionId);
    }
    return definition;
  }

  private async load(
    manager: EntityManager,
    held: Pick<LoadedInstance, 'row' | 'locked' | 'definition'>,
  ): Promise<LoadedInstance> {
    const { row } = held;
    const tokens = await this.tokens.live(manager, row.id);
    return {
      ...held,
      state: toInstanceState(row, tokens),
      tokens: new Map(tokens.map((token) => [token.state.id, token])),
    };
  }
}

/** An instance as the engine knows it. */
export function toInstanceState(
  { id, uuid, state, seq, parentUuid, content }: InstanceRow,
  tokens: readonly Pick<TokenRow, 'state'>[],
): InstanceState {
  return {
    id,
    uuid,
    state,
    seq,
    data: content.data,
    joins: content.joins,
    returnPoints: content.returnPoints,
    executions: content.executions,
    pending: content.pending,
    continues: content.continues,
    backCounter: content.backCounter,
    parentUuid,
    tokens: new Map(tokens.map((token) => [token.state.id, token.state])),
  };
}
