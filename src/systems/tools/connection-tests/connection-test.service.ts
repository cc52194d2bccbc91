import { Injectable } from '@nestjs/common';
import { SERVICE_ITSELF, type Principal } from '../../../platform/user/principal.js';
import { outgoingTraceparent } from '../../../platform/observability/logging/request-context.js';
import { Metrics } from '../../../platform/observability/metrics/metrics.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import { AuditAction, AuditOutcome } from '../../../audit/model/audit.types.js';
import { AuditService } from '../../../audit/recording/audit.service.js';
import type { ConnectionTestResult } from '../../mcp-connection/model/connection-test.types.js';
import { Database } from '../../../store/database.js';
import { McpConnectionService } from '../../mcp-connection/mcp-connection.service.js';
import type { SystemEntity } from '../../storage/system.entity.js';
import { credentialsOf, tlsPart } from '../../lookups/system-connections.service.js';
import type { Connection, SystemKey } from '../../model/system.types.js';
import { SystemNotFoundError } from '../../model/systems.errors.js';
import { SystemsService } from '../../registration/systems.service.js';
import { hashDefinitions } from '../model/tool-definition.js';
import { ToolSyncService, type ServerListing } from '../synchronisation/tool-sync.service.js';
import type { SyncReport } from '../model/tool.types.js';
import { mcpLimits } from '../../mcp-connection/mcp.limits.js';

/** What became of one system that a test covers. */
export interface SynchronisedSystem {
  system: Pick<SystemEntity, 'resourceId' | 'name'>;
  report: SyncReport;
}

/** Where a connection is tested: in a version, as that of a system where it is one that is stored. */
type TestedPlace = AppVersionKey & Partial<SystemKey>;

/** A test and what it changed. */
export interface ConnectionTest {
  result: ConnectionTestResult;
  synchronised: SynchronisedSystem[];
  /** Systems whose turn did not come within `syncTimeoutMs`; they come first in the next test. */
  postponed: number;
}

const CHANGES = ['added', 'changed', 'removed', 'returned'] as const;

/** Tests connections and synchronises the tools of the systems that a test covers (docs/contract.md, section 2.2). */
@Injectable()
export class ConnectionTestService {
  constructor(
    private readonly mcp: McpConnectionService,
    private readonly systems: SystemsService,
    private readonly sync: ToolSyncService,
    private readonly audit: AuditService,
    private readonly metrics: Metrics,
    private readonly database: Database,
  ) {}

  /** Connects to an MCP server, reads its tools and stores them with every system it covers. Never throws for a failed test. */
  async test(principal: Principal, tested: TestedPlace, connection: Connection): Promise<ConnectionTest> {
    const test = await this.tested(principal, tested, connection);
    const { result, synchronised, postponed } = test;
    const cause = result.outcome === 'connected' ? undefined : result.cause;
    await this.audit.recordAlone(principal, {
      appId: tested.appId,
      appVersionId: tested.appVersionId,
      systemResourceId: tested.resourceId ?? null,
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
    return test;
  }

  /** As `test` for a system as it is stored, without anybody asking: the audit log hears of changed tools only. */
  async refresh(key: SystemKey, connection: Connection): Promise<ConnectionTest> {
    return this.tested(SERVICE_ITSELF, key, connection);
  }

  private async tested(
    principal: Principal,
    tested: TestedPlace,
    connection: Connection,
  ): Promise<ConnectionTest> {
    const covered = await this.systems.coveredBy(tested, connection);
    const result = await this.mcp.test({
      baseUrl: connection.baseUrl,
      credentials: credentialsOf(connection),
      tls: tlsPart(tested.appId, connection),
      knownToolCount: await this.database.read((manager) => this.sync.countTools(manager, covered)),
      traceparent: outgoingTraceparent() ?? '',
    });
    const test: ConnectionTest = { result, synchronised: [], postponed: 0 };
    if (result.outcome === 'connected' && covered.length > 0) {
      const listing = { tools: await hashDefinitions(result.tools), description: result.server.description };
      await this.synchroniseAll(principal, covered, { connection, listing, test });
    }
    this.count(test);
    return test;
  }

  /** Those that waited longest come first, so that every system has its turn in the end. */
  private async synchroniseAll(
    principal: Principal,
    covered: SystemEntity[],
    { connection, listing, test }: { connection: Connection; listing: ServerListing; test: ConnectionTest },
  ): Promise<void> {
    const endsAt = performance.now() + mcpLimits.syncTimeoutMs;
    const waiting = covered.toSorted((one, other) => lastSync(one) - lastSync(other));
    for (const [index, system] of waiting.entries()) {
      if (index > 0 && performance.now() >= endsAt) {
        test.postponed = waiting.length - index;
        return;
      }
      const report = await this.synchronise(principal, system, { connection, listing });
      if (report !== undefined) {
        test.synchronised.push({ system, report });
      }
    }
  }

  /** @returns what changed; undefined when the system was removed or reconnected while the test ran */
  private async synchronise(
    principal: Principal,
    { appId, appVersionId, resourceId }: SystemEntity,
    { connection, listing }: { connection: Connection; listing: ServerListing },
  ): Promise<SyncReport | undefined> {
    try {
      return await this.database.write(async (manager) => {
        const locked = await this.systems.lockForSwitching(manager, { appId, appVersionId, resourceId });
        const isStillCovered = this.systems.hasConnection(locked.system, connection);
        return isStillCovered ? this.sync.apply(manager, principal, locked, listing) : undefined;
      });
    } catch (error) {
      if (error instanceof SystemNotFoundError) {
        return undefined;
      }
      throw error;
    }
  }

  private count({ result, synchronised }: ConnectionTest): void {
    const { outcome } = result;
    const cause = result.outcome === 'connected' ? 'none' : result.cause;
    this.metrics.connectionTests.inc({ outcome, cause });
    this.metrics.connectionTestDuration.observe({ outcome }, result.latencyMs / 1_000);
    for (const { report } of synchronised) {
      CHANGES.forEach((change) => this.metrics.toolChanges.inc({ change }, report[change].length));
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

function lastSync({ toolsSynchronisedAt }: SystemEntity): number {
  return toolsSynchronisedAt?.getTime() ?? 0;
}
