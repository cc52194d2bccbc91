import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../common/user/principal.js';
import { Log } from '../../../common/logging/log.js';
import { Metrics } from '../../../common/metrics/metrics.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import type { Connection, SystemKey } from '../../systems/model/system.types.js';
import type { ConnectionTest, TestedPlace } from './tested-systems.types.js';

const CHANGES = ['added', 'changed', 'removed', 'returned'] as const;

/** Tells the audit log and the metrics the findings and changes of connection tests. */
@Injectable()
export class ConnectionTestRecords {
  constructor(
    private readonly audit: AuditService,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /** Records a test that has ended. */
  async record(
    principal: Principal,
    { appId, appVersionId, resourceId }: TestedPlace,
    connection: Connection,
    test: ConnectionTest,
  ): Promise<void> {
    this.count(test);
    const { result, synchronised, postponed } = test;
    const cause = result.outcome === 'connected' ? undefined : result.cause;
    await this.audit.recordAlone(principal, {
      appId,
      appVersionId,
      systemResourceId: resourceId ?? null,
      action: AuditAction.ConnectionTest,
      outcome: auditOutcome(cause),
      // Of the URL only the origin: some servers carry a key in the path or query.
      details: {
        origin: new URL(connection.baseUrl).origin,
        authorizationType: connection.authorizationType,
        latencyMs: result.latencyMs,
        ...(cause === undefined ? {} : { cause }),
        systems: synchronised.map(({ system }) => system.resourceId),
        ...(postponed === 0 ? {} : { postponed }),
      },
    });
  }

  /** Counts a refresh, and logs a failed one. */
  refreshed({ resourceId }: SystemKey, test: ConnectionTest): void {
    this.count(test);
    const { result } = test;
    if (result.outcome !== 'connected') {
      const { cause } = result;
      this.log.warn('tools of a system could not be read again', { systemResourceId: resourceId, cause });
    }
  }

  private count({ result, synchronised }: ConnectionTest): void {
    const { outcome } = result;
    const cause = result.outcome === 'connected' ? 'none' : result.cause;
    this.metrics.connectionTests.inc({ outcome, cause });
    this.metrics.connectionTestDuration.observe({ outcome }, result.latencyMs / 1_000);
    for (const { report } of synchronised) {
      for (const change of CHANGES) {
        this.metrics.toolChanges.inc({ change }, report[change].length);
      }
    }
  }
}

/** @param cause of a failure, if there was one */
export function auditOutcome(cause: string | undefined): AuditOutcome {
  if (cause === undefined) {
    return AuditOutcome.Ok;
  }
  return cause === 'timeout' || cause === 'token_timeout' ? AuditOutcome.Timeout : AuditOutcome.Error;
}
