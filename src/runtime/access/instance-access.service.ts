import { Injectable } from '@nestjs/common';
import { PermissionDeniedError } from '../../platform/auth/auth.errors.js';
import { Permission } from '../../platform/auth/permission.js';
import { mayFor } from '../../platform/user/grant.js';
import { callerHash, type Principal } from '../../platform/user/principal.js';
import { Database } from '../../store/database.js';
import {
  ProcessInstanceNotFoundError,
  LanePermissionError,
  UiActionNotFoundError,
} from '../model/process-runtime.errors.js';
import type { InstanceHead } from '../storage/process-instance.entity.js';
import { Instances } from '../storage/instances.repository.js';
import { type PathCheck, FoundFirst } from '../../platform/http/checked-path.js';
import { InstanceParams } from '../model/instance.params.dto.js';
import { Env } from '../../platform/config/env.js';
import type { GraphNode } from '#engine/definitions';
import type { UiActionPlace } from '#engine/tokens';
import {
  asksForPermission,
  mayAct,
  type RunnableDefinition,
} from '../definitions/runnable-definitions.service.js';

/**
 * Who may read process data, which holds personal data: who has the permission `process-read` for the application of the
 * instance, and the caller who started it. Lanes say who may act, and have no part in it.
 */
@Injectable()
export class InstanceAccessService {
  constructor(private readonly database: Database) {}

  /**
   * Demands that a caller may read an instance. Who may not is told the same of one that is not there: who may read none the
   * 403, and who may read those of other applications the 404.
   * @throws PermissionDeniedError, ProcessInstanceNotFoundError
   */
  async demandReadable(principal: Principal, uuid: string): Promise<void> {
    const head = await this.database.read((manager) => Instances.findHead(manager, { uuid }));
    readable(principal, head);
  }

  /**
   * Demands that a caller may correct the process data of an instance: with the permission of its own, and what reading asks for.
   * @throws PermissionDeniedError, ProcessInstanceNotFoundError
   */
  async demandCorrectable(principal: Principal, uuid: string): Promise<void> {
    demand(principal, Permission.ProcessData);
    const head = await this.database.read((manager) => Instances.demandHead(manager, uuid));
    if (!mayFor(principal, Permission.ProcessData, head.appId)) {
      throw new PermissionDeniedError(Permission.ProcessData);
    }
    if (!mayRead(principal, head)) {
      throw new PermissionDeniedError(Permission.ProcessRead);
    }
  }
}

/**
 * An instance that was looked up, as `demandReadable` demands it.
 * @param head null when it is not there
 * @throws PermissionDeniedError, ProcessInstanceNotFoundError
 */
export function readable<Head extends Pick<InstanceHead, 'appId' | 'starter'>>(
  principal: Principal,
  head: Head | null,
): Head {
  if (head?.starter !== callerHash(principal)) {
    demandReader(principal);
  }
  if (head === null || !mayRead(principal, head)) {
    throw new ProcessInstanceNotFoundError();
  }
  return head;
}

/** @throws PermissionDeniedError to who may not read instances of any application */
export function demandReader(principal: Principal): void {
  demand(principal, Permission.ProcessRead);
}

function demand({ permissions }: Principal, permission: Permission): void {
  if (!permissions.has(permission)) {
    throw new PermissionDeniedError(permission);
  }
}

/** Whether a caller may read an instance: one of an application of his, or one that he started. */
export function mayRead(
  principal: Principal,
  { appId, starter }: Pick<InstanceHead, 'appId' | 'starter'>,
): boolean {
  return mayFor(principal, Permission.ProcessRead, appId) || starter === callerHash(principal);
}

/**
 * 403 to who may not read the instance of the path, whatever the path is; then 400 of a malformed path, and 404.
 * @param options `onlyWhenRefused` for a handler that looks at the instance itself
 */
export const ForReaders = (options: Pick<PathCheck, 'onlyWhenRefused'> = {}): MethodDecorator =>
  FoundFirst(
    InstanceAccessService,
    InstanceParams,
    (access, { uuid }, principal) => access.demandReadable(principal, uuid),
    { demandCaller: (_access, _path, principal) => demandReader(principal), ...options },
  );

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
    const mayKnow =
      this.isOpen ||
      mayFor(principal, Permission.ProcessRead, instance.appId) ||
      isResponsible(principal, instance);
    const isKnown = mayKnow && !this.isForOthers(principal, instance);
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

function isResponsible(principal: Principal, { appId, starter }: Started): boolean {
  return starter === null
    ? mayFor(principal, Permission.ProcessAdministration, appId)
    : starter === callerHash(principal);
}
