import { Injectable } from '@nestjs/common';
import type { Principal } from '../../platform/user/principal.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { EngineRefusal, type EngineCommand } from '#engine/tokens';
import { InstanceAuditService } from './instance-audit.service.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { ProcessStateError } from '../model/process-runtime.errors.js';
import { toDomainError } from '../steps/step-failures.js';
import type { InstanceOperationDto } from './instance-operation.dto.js';

/** Operations and their commands. */
const OPERATIONS = {
  /** Stops a running instance. Background work that comes due waits for the release. */
  hold: { action: AuditAction.ProcessHold, command: { kind: 'HOLD' } },
  /** Continues an instance that is on hold. */
  release: { action: AuditAction.ProcessRelease, command: { kind: 'RELEASE' } },
  /** Ends an instance that is running, on hold or could not start, and its running called processes. */
  terminate: { action: AuditAction.ProcessTerminate, command: { kind: 'END', state: 'TERMINATED' } },
} as const satisfies Record<string, { action: AuditAction; command: EngineCommand }>;

/** Operations on whole instances (docs/process-semantics.md, section 11). History and audit log name the operator. */
@Injectable()
export class InstanceOperationsService {
  constructor(
    private readonly steps: InstanceStepsService,
    private readonly audit: InstanceAuditService,
  ) {}

  /** @throws ProcessInstanceNotFoundError, ProcessStateError */
  async operate(
    principal: Principal,
    uuid: string,
    operation: keyof typeof OPERATIONS,
  ): Promise<InstanceOperationDto> {
    const { action, command } = OPERATIONS[operation];
    await this.audit.requireAdministrator(principal, { uuid, action });
    const version = await this.audit.requireVersion(uuid);
    try {
      return await this.steps.transact({ uuid }, async (held) => {
        const manager = held.transaction.requireOwnTransaction();
        const { result } = await this.steps.make(held, command, { actor: principal.user.userName });
        const { state } = result.instance;
        const event = { version, action, uuid, stateBefore: held.row.state, state };
        await this.audit.record(manager, principal, event, held.row.shard);
        return { uuid, state };
      });
    } catch (error) {
      if (!(error instanceof EngineRefusal)) {
        throw error;
      }
      throw operation === 'release' && error.code === 'INSTANCE_NOT_STARTED'
        ? new ProcessStateError('INSTANCE_NOT_ON_HOLD', 'The process instance is not on hold.')
        : toDomainError(error);
    }
  }
}
