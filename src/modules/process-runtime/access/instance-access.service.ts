import { Injectable } from '@nestjs/common';
import { PermissionDeniedError } from '../../../common/auth/auth.errors.js';
import { Permission } from '../../../common/auth/permission.js';
import { callerHash, type Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { RuntimeRows } from '../storage/runtime-rows.js';

/**
 * Who may read process data, which holds personal data: who has the permission `process-read`, and of an instance the
 * caller who started it. Lanes say who may act, and have no part in it.
 */
@Injectable()
export class InstanceAccessService {
  constructor(
    private readonly database: Database,
    private readonly rows: RuntimeRows,
  ) {}

  /**
   * Demands that a caller may read an instance. Who may not is told the same of one that is not there.
   * @throws PermissionDeniedError, ProcessInstanceNotFoundError
   */
  async demandReadable(principal: Principal, uuid: string): Promise<void> {
    const head = await this.database.read((manager) => this.rows.instances.findHead(manager, { uuid }));
    if (!mayReadAll(principal) && head?.starter !== callerHash(principal)) {
      throw new PermissionDeniedError(Permission.ProcessRead);
    }
    if (head === null) {
      throw new ProcessInstanceNotFoundError();
    }
  }
}

/** Whether a caller may read all instances. */
export function mayReadAll({ permissions }: Principal): boolean {
  return permissions.has(Permission.ProcessRead);
}
