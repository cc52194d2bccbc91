import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { validate as isUuid } from 'uuid';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AuditSubjectsService } from '../../audit/recording/audit-subjects.service.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import { BuildReadsService } from '../../builds/contents/build-reads.service.js';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import { ProcessInstanceNotFoundError } from '../model/process-runtime.errors.js';
import { RuntimeRows } from '../storage/runtime-rows.js';

/** What an operator has done to an instance. */
export interface DoneOperation {
  version: AppVersionKey;
  action: AuditAction;
  uuid: string;
  /** The token that is retried; null for an operation on the whole. */
  tokenUuid?: string | null;
  stateBefore: InstanceStatus;
  state: InstanceStatus;
  retriedIncidents?: readonly string[];
}

const OPERATIONS = [
  AuditAction.ProcessHold,
  AuditAction.ProcessRelease,
  AuditAction.ProcessTerminate,
  AuditAction.ProcessRetry,
];

/** Tells the audit log of the version, from whose build an instance was made, what operators do to the instance. */
@Injectable()
export class InstanceAuditService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly rows: RuntimeRows,
    private readonly builds: BuildReadsService,
    private readonly audit: AuditService,
    private readonly subjects: AuditSubjectsService,
  ) {}

  onModuleInit(): void {
    this.subjects.register(OPERATIONS, async ({ uuid, tokenUuid }) => {
      const version = typeof uuid === 'string' ? await this.versionOf(uuid) : null;
      // Nobody has validated the path of a call that was denied.
      const token = isUuid(tokenUuid) ? { tokenUuid } : {};
      return version === null ? null : { ...version, details: { processInstanceUuid: uuid, ...token } };
    });
  }

  /**
   * The version that an instance was made from, which never changes. Not inside of a transaction.
   * @throws ProcessInstanceNotFoundError
   */
  async demandVersion(uuid: string): Promise<AppVersionKey> {
    const version = await this.versionOf(uuid);
    if (version === null) {
      throw new ProcessInstanceNotFoundError();
    }
    return version;
  }

  /** Adds the event of an operation to its transaction. */
  async record(manager: EntityManager, principal: Principal, done: DoneOperation): Promise<void> {
    const { version, action, uuid, tokenUuid, ...facts } = done;
    const token = typeof tokenUuid === 'string' ? { tokenUuid } : {};
    const details = { processInstanceUuid: uuid, ...token, ...facts };
    await this.audit.record(manager, principal, { ...version, action, outcome: AuditOutcome.Ok, details });
  }

  private async versionOf(uuid: string): Promise<AppVersionKey | null> {
    const head = await this.database.read((manager) => this.rows.instances.findHead(manager, { uuid }));
    if (head === null) {
      return null;
    }
    const { appId, appVersionId } = await this.builds.summary(head.appId, head.buildId);
    return { appId, appVersionId };
  }
}
