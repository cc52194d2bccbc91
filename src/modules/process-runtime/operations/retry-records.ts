import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { JsonObject } from '../../../common/json.js';
import type { Principal } from '../../../common/user/principal.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { InstanceAccessService } from '../access/instance-access.service.js';
import type { InstanceStatus, StepResult } from '../engine/state/engine.types.js';
import { patchedMembers } from '../engine/state/process-data.js';
import { IncidentRecords, type IncidentClosing } from '../steps/incident-records.js';
import { CorrectionsRepository } from '../storage/corrections.repository.js';
import type { IncidentRow } from '../storage/incidents.repository.js';
import type { ParkedJob } from '../storage/instance-content.types.js';
import type { InstanceHead } from '../storage/instance.row.js';
import { InstanceAuditService } from './instance-audit.service.js';
import type { RetryTarget } from './stopped-work.js';

/** An incident with its background work. */
export type Stop = IncidentRow & { job: ParkedJob };

/** Who retries what. */
export interface Attempt {
  principal: Principal;
  target: RetryTarget;
  version: AppVersionKey;
  jobId: number;
  /** Whether work that the engine could ask for anew runs as it was asked for. */
  asAsked: boolean;
  /** Corrects process data in the same transaction. */
  patch: JsonObject | undefined;
}

/** A step that retries an incident. */
export interface Retried {
  row: InstanceHead;
  stop: Stop;
  attempt: Attempt;
  /** The values that `patch` changes, see `correctionText`. */
  corrected: string | undefined;
}

/** What came of such a step. */
interface Outcome {
  state: InstanceStatus;
  /** Events that come before the end of the incident. */
  events?: IncidentClosing['events'];
  /** What the engine made, where it was asked. */
  step?: StepResult | undefined;
}

/** Who may retry, and what is kept of a retry beside the work itself. */
@Injectable()
export class RetryRecords {
  constructor(
    private readonly access: InstanceAccessService,
    private readonly audit: InstanceAuditService,
    private readonly incidents: IncidentRecords,
    private readonly corrections: CorrectionsRepository,
  ) {}

  /**
   * Makes sure that a caller may retry. Not inside of a transaction.
   * @param isCorrection whether process data are corrected, too
   * @returns the version that the instance was made from
   * @throws ProcessInstanceNotFoundError, PermissionDeniedError
   */
  async demandMay(principal: Principal, target: RetryTarget, isCorrection: boolean): Promise<AppVersionKey> {
    await this.audit.demandTheirs(principal, { ...target, action: AuditAction.ProcessRetry });
    if (isCorrection) {
      await this.access.demandCorrectable(principal, target.uuid);
    }
    return this.audit.demandVersion(target.uuid);
  }

  /** Closes the incident that is retried, where its step has not, keeps what was corrected, and tells the audit log. */
  async close(
    manager: EntityManager,
    { row, stop, attempt, corrected }: Retried,
    { state, events, step }: Outcome,
  ): Promise<void> {
    const { principal, target, version, patch } = attempt;
    const change = step?.events.find(({ kind }) => kind === 'DATA_CHANGED');
    if (corrected !== undefined && change !== undefined) {
      await this.corrections.insert(manager, row, change.seq, corrected);
    }
    const closing = { state: 'RETRIED', actor: principal.user.userName, events } as const;
    await this.incidents.close(manager, row.id, [stop], closing);
    const done = {
      ...target,
      version,
      action: AuditAction.ProcessRetry,
      stateBefore: row.state,
      state,
      retriedIncidents: [stop.uuid],
      ...(patch === undefined ? {} : { changedData: patchedMembers(patch) }),
    };
    await this.audit.record(manager, principal, done, row.shard);
  }
}
