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
import { CheckPathBeforeBody } from '../../platform/http/checked-path.js';
import { InstanceParams } from '../model/instance.params.dto.js';
import { Env } from '../../platform/config/env.js';
import type { GraphNode } from '#engine/definitions';
import type { UiActionPlace } from '#engine/tokens';
import {
  requiresPermission,
  mayAct,
  type RunnableDefinition,
} from '../definitions/runnable-definitions.service.js';

/**
 * Decides who may read process data, which may be personal: callers with the permission `process-read` for the application of the
 * instance, and the caller who started it. Lanes restrict UI actions only.
 */
@Injectable()
export class InstanceAccessService {
  constructor(private readonly database: Database) {}

  /**
   * Checks that a caller may read an instance. Forbidden and missing instances get the same answer: 403 for callers who may read
   * no instances, 404 for callers who may read those of other applications.
   * @throws PermissionDeniedError, ProcessInstanceNotFoundError
   */
  async requireReadable(principal: Principal, uuid: string): Promise<void> {
    const head = await this.database.read((manager) => Instances.findHead(manager, { uuid }));
    requireReadableHead(principal, head);
  }

  /**
   * Checks that a caller may correct the process data of an instance, which requires `process-data` and the right to read it.
   * @throws PermissionDeniedError, ProcessInstanceNotFoundError
   */
  async requireCorrectable(principal: Principal, uuid: string): Promise<void> {
    requirePermission(principal, Permission.ProcessData);
    const head = await this.database.read((manager) => Instances.requireHead(manager, uuid));
    if (!mayFor(principal, Permission.ProcessData, head.appId)) {
      throw new PermissionDeniedError(Permission.ProcessData);
    }
    if (!mayRead(principal, head)) {
      throw new PermissionDeniedError(Permission.ProcessRead);
    }
  }
}

/**
 * Returns a loaded instance if the caller may read it; see `requireReadable`.
 * @param head null if there is no such instance
 * @throws PermissionDeniedError, ProcessInstanceNotFoundError
 */
export function requireReadableHead<Head extends Pick<InstanceHead, 'appId' | 'starter'>>(
  principal: Principal,
  head: Head | null,
): Head {
  if (head?.starter !== callerHash(principal)) {
    requireReader(principal);
  }
  if (head === null || !mayRead(principal, head)) {
    throw new ProcessInstanceNotFoundError();
  }
  return head;
}

/** @throws PermissionDeniedError when the caller may not read instances of any application */
export function requireReader(principal: Principal): void {
  requirePermission(principal, Permission.ProcessRead);
}

function requirePermission({ permissions }: Principal, permission: Permission): void {
  if (!permissions.has(permission)) {
    throw new PermissionDeniedError(permission);
  }
}

/** Whether a caller may read an instance: by permission for its application, or because they started it. */
export function mayRead(
  principal: Principal,
  { appId, starter }: Pick<InstanceHead, 'appId' | 'starter'>,
): boolean {
  return mayFor(principal, Permission.ProcessRead, appId) || starter === callerHash(principal);
}

/**
 * Restricts a route to readers of the instance in its path. The 403 comes before the 400 for a malformed path and the 404.
 * @param checkPath `PreferPathErrors` for a handler that checks the instance itself
 */
export const ForReaders = (checkPath = CheckPathBeforeBody): MethodDecorator =>
  checkPath(
    InstanceAccessService,
    InstanceParams,
    (access, { uuid }, principal) => access.requireReadable(principal, uuid),
    { authorize: (_access, _path, principal) => requireReader(principal) },
  );

/** Fields of an instance that decide who may act; `starter` is the caller who started the call chain. */
type InstanceOwner = Pick<InstanceHead, 'appId' | 'starter'>;

/**
 * Decides who may execute the UI actions of an instance. If the lane of the node requires permissions, callers with one of them may;
 * otherwise the caller who started the instance, or process administrators if no caller did. `PROCESS_UI_ACTION_ACCESS` can open the
 * latter case to all callers.
 */
@Injectable()
export class UiActionAccess {
  /** Whether all callers may act at nodes whose lane requires no permission. */
  readonly isOpen: boolean;
  private readonly permission: string | undefined;

  constructor(env: Env) {
    this.isOpen = env.get('PROCESS_UI_ACTION_ACCESS') === 'any-token';
    this.permission = env.get('PROCESS_UI_ACTION_PERMISSION');
  }

  /** Whether a caller may execute the UI actions of a node. */
  mayExecute(
    principal: Principal,
    instance: InstanceOwner,
    definition: RunnableDefinition,
    node: Pick<GraphNode, 'lane'>,
  ): boolean {
    if (this.lacksPermission(principal, instance)) {
      return false;
    }
    if (requiresPermission(definition, node)) {
      return mayAct(definition, node, principal);
    }
    return this.isOpen || isResponsible(principal, instance);
  }

  /**
   * Returns the UI action in a path if the caller may execute it. Callers who may not know of the instance get the same 404 for a
   * missing or forbidden UI action as for a missing instance. If all callers may act, all may know of it.
   * @throws ProcessInstanceNotFoundError
   * @throws UiActionNotFoundError, LanePermissionError for callers who may know of the instance
   */
  requireUiAction(
    principal: Principal,
    instance: InstanceOwner,
    definition: RunnableDefinition,
    svcUuid: string,
  ): UiActionPlace {
    const place = definition.runtime.uiAction(svcUuid);
    const mayKnow =
      this.isOpen ||
      mayFor(principal, Permission.ProcessRead, instance.appId) ||
      isResponsible(principal, instance);
    const isKnown = mayKnow && !this.lacksPermission(principal, instance);
    if (place === undefined) {
      throw isKnown ? new UiActionNotFoundError() : new ProcessInstanceNotFoundError();
    }
    if (!this.mayExecute(principal, instance, definition, place.node)) {
      const isOfLane = isKnown && requiresPermission(definition, place.node);
      throw isOfLane ? new LanePermissionError() : new ProcessInstanceNotFoundError();
    }
    return place;
  }

  /** Whether a caller lacks the permission that all UI actions require, for the application of the instance. */
  private lacksPermission(principal: Principal, { appId }: InstanceOwner): boolean {
    return this.permission !== undefined && !mayFor(principal, this.permission, appId);
  }
}

function isResponsible(principal: Principal, { appId, starter }: InstanceOwner): boolean {
  return starter === null
    ? mayFor(principal, Permission.ProcessAdministration, appId)
    : starter === callerHash(principal);
}
