import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../common/user/principal.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { EngineRefusal } from '../engine/state/engine.errors.js';
import type { EngineCommand } from '../engine/state/engine.types.js';
import { InstanceAuditService } from './instance-audit.service.js';
import type { OperationView } from '../model/instance-operations.types.js';
import { InstanceStepsService } from '../steps/instance-steps.service.js';
import { ProcessStateError } from '../model/process-runtime.errors.js';
import { toDomainError } from '../steps/refusals.js';
import { StepResources } from '../steps/step-resources.js';

/** What an operator does to whole instances (docs/process-semantics.md, section 11). The history and the audit log name the operator. */
@Injectable()
export class InstanceOperationsService {
  constructor(
    private readonly steps: InstanceStepsService,
    private readonly audit: InstanceAuditService,
    private readonly resources: StepResources,
  ) {}

  /**
   * Holds a running instance: nothing of it goes on, and background work that comes due waits for the release.
   * @throws ProcessInstanceNotFoundError, ProcessStateError
   */
  async hold(principal: Principal, uuid: string): Promise<OperationView> {
    return this.operate(principal, { uuid, action: AuditAction.ProcessHold }, { kind: 'HOLD' });
  }

  /**
   * Lets an instance go on that is on hold.
   * @throws ProcessInstanceNotFoundError, ProcessStateError
   */
  async release(principal: Principal, uuid: string): Promise<OperationView> {
    return this.operate(principal, { uuid, action: AuditAction.ProcessRelease }, { kind: 'RELEASE' });
  }

  /**
   * Ends a running instance, one on hold or one that could not start, and whatever it started that is still running.
   * @throws ProcessInstanceNotFoundError, ProcessStateError
   */
  async terminate(principal: Principal, uuid: string): Promise<OperationView> {
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
  ): Promise<OperationView> {
    const version = await this.audit.demandVersion(uuid);
    try {
      return await this.steps.run<OperationView>(
        { uuid },
        {
          actor: principal.user.userName,
          command: () => command,
          after: async ({ before: { row }, result }, manager) => {
            const { state } = result.instance;
            await this.audit.record(manager, principal, {
              version,
              action,
              uuid,
              stateBefore: row.state,
              state,
            });
            return { uuid, state };
          },
        },
      );
    } catch (error) {
      throw error instanceof EngineRefusal ? this.refused(error, command) : error;
    }
  }

  private refused(error: EngineRefusal, { kind }: EngineCommand): Error {
    return kind === 'RELEASE' && error.code === 'INSTANCE_NOT_STARTED'
      ? new ProcessStateError('INSTANCE_NOT_ON_HOLD', 'The process instance is not on hold.')
      : toDomainError(error, this.resources.limits.dataBytes);
  }
}
