import { Injectable } from '@nestjs/common';
import { PermissionDeniedError } from '../../../common/auth/auth.errors.js';
import { Permission } from '../../../common/auth/permission.js';
import { mayFor } from '../../../common/user/grant.js';
import { callerHash, type Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import type { InstanceHead } from '../storage/process-instance.entity.js';
import { Instances } from '../storage/instances.repository.js';
import { type PathCheck, FoundFirst } from '../../../common/http/checked-path.js';
import { InstanceParams } from '../model/instance.params.dto.js';

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
