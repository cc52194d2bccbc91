import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { validate as isUuid } from 'uuid';
import { Permission } from '../../platform/auth/permission.js';
import { isLimited, mayFor } from '../../platform/user/grant.js';
import type { Principal } from '../../platform/user/principal.js';
import { Database } from '../../store/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AuditSubjectsService } from '../../audit/recording/audit-subjects.service.js';
import { AuditJobs } from '../calls/workflows/audit/audit-jobs.service.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import { BuildReadsService } from '../../delivery/builds/contents/build-reads.service.js';
import type { InstanceStatus } from '#engine/tokens';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { Instances } from '../storage/instances.repository.js';

export interface WantedOperation {
  action: AuditAction;
  uuid: string;
  /** The retried token; null for an operation on the instance. */
  tokenUuid?: string | null;
}

export interface DoneOperation extends WantedOperation {
  version: AppVersionKey;
  stateBefore: InstanceStatus;
  state: InstanceStatus;
  retriedIncidents?: readonly string[];
  /** Corrected members of the process data. */
  changedData?: readonly string[];
}

const OPERATIONS = [
  AuditAction.ProcessHold,
  AuditAction.ProcessRelease,
  AuditAction.ProcessTerminate,
  AuditAction.ProcessRetry,
];

/** Records operations on an instance in the audit log of the version that it was started from. */
@Injectable()
export class InstanceAuditService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly builds: BuildReadsService,
    private readonly audit: AuditService,
    private readonly jobs: AuditJobs,
    private readonly subjects: AuditSubjectsService,
  ) {}

  onModuleInit(): void {
    this.subjects.register(OPERATIONS, async ({ uuid, tokenUuid }) => {
      const version = typeof uuid === 'string' ? await this.versionOf(uuid) : null;
      // The path of a denied call is not validated.
      const token = isUuid(tokenUuid) ? { tokenUuid } : {};
      return version === null ? null : { ...version, details: { processInstanceUuid: uuid, ...token } };
    });
  }

  /**
   * Returns the version that an instance was started from. It never changes. Not inside a transaction.
   * @throws ProcessInstanceNotFoundError
   */
  async requireVersion(uuid: string): Promise<AppVersionKey> {
    const version = await this.versionOf(uuid);
    if (version === null) {
      throw new ProcessInstanceNotFoundError();
    }
    return version;
  }

  /**
   * Checks that a caller who may administer some processes may administer this one. Otherwise the error is the same as for an unknown
   * instance, and the audit log of the version records the denial. Not inside a transaction.
   * @throws ProcessInstanceNotFoundError
   */
  async requireAdministrator(
    principal: Principal,
    { action, uuid, tokenUuid }: WantedOperation,
  ): Promise<void> {
    const permission = Permission.ProcessAdministration;
    if (!isLimited(principal, permission)) {
      return;
    }
    const version = await this.requireVersion(uuid);
    if (!mayFor(principal, permission, version.appId)) {
      const details = { processInstanceUuid: uuid, ...tokenOf(tokenUuid), permission };
      // Not awaited, so that response times do not reveal whether the instance exists.
      void this.audit.recordDenied(principal, [{ ...version, action, details }]);
      throw new ProcessInstanceNotFoundError();
    }
  }

  /** Records an operation in its transaction, in the shard of the instance. */
  async record(
    manager: EntityManager,
    principal: Principal,
    done: DoneOperation,
    shard: number,
  ): Promise<void> {
    const { version, action, uuid, tokenUuid, ...facts } = done;
    const details = { processInstanceUuid: uuid, ...tokenOf(tokenUuid), ...facts };
    const entry = { ...version, action, outcome: AuditOutcome.Ok, details };
    await this.jobs.record(manager, principal, entry, shard);
  }

  private async versionOf(uuid: string): Promise<AppVersionKey | null> {
    const head = await this.database.read((manager) => Instances.findHead(manager, { uuid }));
    if (head === null) {
      return null;
    }
    const { appId, appVersionId } = await this.builds.summary(head.appId, head.buildId);
    return { appId, appVersionId };
  }
}

function tokenOf(tokenUuid: string | null | undefined): { tokenUuid?: string } {
  return typeof tokenUuid === 'string' ? { tokenUuid } : {};
}
