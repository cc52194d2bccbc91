import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { PermissionDeniedError } from '../../../common/auth/auth.errors.js';
import { Permission } from '../../../common/auth/permission.js';
import { principalOf } from '../../../common/user/principal.js';
import { PATH_ID } from '../../../common/validation/patterns.decorators.js';
import { InstanceAccessService, mayReadAll } from './instance-access.service.js';

/** Answers 403 to who may not read the instance of the path, and then 404 when there is none. */
@Injectable()
export class InstanceReaderGuard implements CanActivate {
  constructor(private readonly access: InstanceAccessService) {}

  /** @throws PermissionDeniedError, ProcessInstanceNotFoundError */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const principal = principalOf(request);
    const uuid = String(request.params['uuid']);
    if (principal !== undefined && PATH_ID.test(uuid)) {
      await this.access.demandReadable(principal, uuid);
      return true;
    }
    if (principal === undefined || !mayReadAll(principal)) {
      throw new PermissionDeniedError(Permission.ProcessRead);
    }
    // What is no identifier is told by the validation of the path.
    return true;
  }
}
