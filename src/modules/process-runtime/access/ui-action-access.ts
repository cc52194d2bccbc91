import { Injectable } from '@nestjs/common';
import { Permission } from '../../../common/auth/permission.js';
import { mayFor } from '../../../common/user/grant.js';
import { callerHash, type Principal } from '../../../common/user/principal.js';
import { Env } from '../../../config/env.js';
import type { GraphNode } from '../../process-definitions/model/process-graph.types.js';
import type { UiActionPlace } from '../engine/state/runtime-definition.js';
import { asksForPermission, mayAct, type RunnableDefinition } from '../definitions/runnable-definition.js';
import {
  LanePermissionError,
  ProcessInstanceNotFoundError,
  UiActionNotFoundError,
} from '../model/process-runtime.errors.js';
import type { InstanceHead } from '../storage/process-instance.entity.js';

/** What of an instance decides who may act; `starter` is the caller who started the first of the calls. */
type Started = Pick<InstanceHead, 'appId' | 'starter'>;

/**
 * Who may execute the UI actions of an instance: where the lane of the node asks for permissions, who has one of them; elsewhere who started
 * the instance, or for one that nobody started the administrators of processes. `PROCESS_UI_ACTION_ACCESS` can open the latter to all.
 */
@Injectable()
export class UiActionAccess {
  /** Whether any caller may act where no lane asks for a permission. */
  readonly isOpen: boolean;
  private readonly permission: string | undefined;

  constructor(env: Env) {
    this.isOpen = env.get('PROCESS_UI_ACTION_ACCESS') === 'any-token';
    this.permission = env.get('PROCESS_UI_ACTION_PERMISSION');
  }

  /** Whether a caller may execute the UI actions of a node. */
  mayExecute(
    principal: Principal,
    instance: Started,
    definition: RunnableDefinition,
    node: Pick<GraphNode, 'lane'>,
  ): boolean {
    if (this.isForOthers(principal, instance)) {
      return false;
    }
    if (asksForPermission(definition, node)) {
      return mayAct(definition, node, principal);
    }
    return this.isOpen || isResponsible(principal, instance);
  }

  /**
   * The UI action of a path that a caller may execute. A stranger is told the same of one that is not there, or not for him, as of an
   * instance that is not there; where all may act, nobody is a stranger.
   * @throws ProcessInstanceNotFoundError
   * @throws UiActionNotFoundError, LanePermissionError to who knows of the instance
   */
  demand(
    principal: Principal,
    instance: Started,
    definition: RunnableDefinition,
    svcUuid: string,
  ): UiActionPlace {
    const place = definition.runtime.uiAction(svcUuid);
    const isKnown = !this.isForOthers(principal, instance) && (this.isOpen || knowsOf(principal, instance));
    if (place === undefined) {
      throw isKnown ? new UiActionNotFoundError() : new ProcessInstanceNotFoundError();
    }
    if (!this.mayExecute(principal, instance, definition, place.node)) {
      const isOfLane = isKnown && asksForPermission(definition, place.node);
      throw isOfLane ? new LanePermissionError() : new ProcessInstanceNotFoundError();
    }
    return place;
  }

  /** Whether a caller lacks the permission that every UI action asks for, at least for the application of the instance. */
  private isForOthers(principal: Principal, { appId }: Started): boolean {
    return this.permission !== undefined && !mayFor(principal, this.permission, appId);
  }
}

function knowsOf(principal: Principal, instance: Started): boolean {
  return mayFor(principal, Permission.ProcessRead, instance.appId) || isResponsible(principal, instance);
}

function isResponsible(principal: Principal, { appId, starter }: Started): boolean {
  return starter === null
    ? mayFor(principal, Permission.ProcessAdministration, appId)
    : starter === callerHash(principal);
}
