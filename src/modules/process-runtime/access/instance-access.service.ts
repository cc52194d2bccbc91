import { Injectable } from '@nestjs/common';
import { PermissionDeniedError } from '../../../common/auth/auth.errors.js';
import { Permission } from '../../../common/auth/permission.js';
import { mayFor } from '../../../common/user/grant.js';
import { callerHash, type Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import type { InstanceHead } from '../storage/instance.row.js';
import { InstancesRepository } from '../storage/instances.repository.js';

/**
 * Who may read process data, which holds personal data: who has the permission `process-read` for the application of the
 * instance, and the caller who started it. Lanes say who may act, and have no part in it.
 */
@Injectable()
export class InstanceAccessService {
  constructor(
    private readonly database: Database,
    private readonly instances: InstancesRepository,
  ) {}

  /**
   * Demands that a caller may read an instance. Who may not is told the same of one that is not there: who may read none the
   * 403, and who may read those of other applications the 404.
   * @throws PermissionDeniedError, ProcessInstanceNotFoundError
   */
  async demandReadable(principal: Principal, uuid: string): Promise<void> {
    const head = await this.database.read((manager) => this.instances.findHead(manager, { uuid }));
    readable(principal, head);
  }

  /**
   * Demands that a caller may correct the process data of an instance: with the permission of its own, and what reading asks for.
   * @throws PermissionDeniedError, ProcessInstanceNotFoundError
   */
  async demandCorrectable(principal: Principal, uuid: string): Promise<void> {
    if (!principal.permissions.has(Permission.ProcessData)) {
      throw new PermissionDeniedError(Permission.ProcessData);
    }
    const head = await this.database.read((manager) => this.instances.findHead(manager, { uuid }));
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
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
export function demandReader({ permissions }: Principal): void {
  if (!permissions.has(Permission.ProcessRead)) {
    throw new PermissionDeniedError(Permission.ProcessRead);
  }
}

/** Whether a caller may read an instance: one of an application of his, or one that he started. */
export function mayRead(
  principal: Principal,
  { appId, starter }: Pick<InstanceHead, 'appId' | 'starter'>,
): boolean {
  return mayFor(principal, Permission.ProcessRead, appId) || starter === callerHash(principal);
}
