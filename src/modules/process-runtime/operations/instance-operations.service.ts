import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../common/user/principal.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import type { EngineCommand } from '../engine/state/engine.types.js';
import { InstanceAuditService } from './instance-audit.service.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { ProcessStateError } from '../model/process-runtime.errors.js';
import { toDomainError } from '../steps/refusals.js';
import type { InstanceOperationDto } from './instance-operation.dto.js';

/** What an operator does to whole instances (docs/process-semantics.md, section 11). The history and the audit log name the operator. */
@Injectable()
export class InstanceOperationsService {
  constructor(
    private readonly steps: InstanceStepsService,
    private readonly audit: InstanceAuditService,
  ) {}

  /**
   * Holds a running instance: nothing of it goes on, and background work that comes due waits for the release.
   * @throws ProcessInstanceNotFoundError, ProcessStateError
   */
  async hold(principal: Principal, uuid: string): Promise<InstanceOperationDto> {
    return this.operate(principal, { uuid, action: AuditAction.ProcessHold }, { kind: 'HOLD' });
  }

  /**
   * Lets an instance go on that is on hold.
   * @throws ProcessInstanceNotFoundError, ProcessStateError
   */
  async release(principal: Principal, uuid: string): Promise<InstanceOperationDto> {
    return this.operate(principal, { uuid, action: AuditAction.ProcessRelease }, { kind: 'RELEASE' });
  }

  /**
   * Ends a running instance, one on hold or one that could not start, and whatever it started that is still running.
   * @throws ProcessInstanceNotFoundError, ProcessStateError
   */
  async terminate(principal: Principal, uuid: string): Promise<InstanceOperationDto> {
    return this.operate(
      principal,
      { uuid, action: AuditAction.ProcessTerminate },
      { kind: 'END', state: 'TERMINATED' },
    );
  }

  private async operate(
    principal: Principal,
    { uuid, action }: { uuid: string; action: AuditAction },
    command: EngineCommand,
  ): Promise<InstanceOperationDto> {
    await this.audit.demandTheirs(principal, { uuid, action });
    const version = await this.audit.demandVersion(uuid);
    try {
      return await this.steps.run<InstanceOperationDto>(
        { uuid },
        {
          actor: principal.user.userName,
          decide: ({ row }) => ({
            command,
            after: async ({ result }, manager) => {
              const { state } = result.instance;
              const event = { version, action, uuid, stateBefore: row.state, state };
              await this.audit.record(manager, principal, event, row.shard);
              return { uuid, state };
            },
          }),
        },
      );
    } catch (error) {
      throw error instanceof EngineRefusal ? this.refused(error, command) : error;
    }
  }

  private refused(error: EngineRefusal, { kind }: EngineCommand): Error {
    return kind === 'RELEASE' && error.code === 'INSTANCE_NOT_STARTED'
      ? new ProcessStateError('INSTANCE_NOT_ON_HOLD', 'The process instance is not on hold.')
      : toDomainError(error);
  }
}
