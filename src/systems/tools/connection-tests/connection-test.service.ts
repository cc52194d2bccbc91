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

/** Changes in one system that a test covers. */
export interface SynchronisedSystem {
  system: Pick<SystemEntity, 'resourceId' | 'name'>;
  report: SyncReport;
}

/** Version in which a connection is tested, with the system if its stored connection is tested. */
type TestedPlace = AppVersionKey & Partial<SystemKey>;

/** Result of a test and its changes. */
export interface ConnectionTest {
  result: ConnectionTestResult;
  synchronised: SynchronisedSystem[];
  /** Number of systems that were not synchronised within `syncTimeoutMs`. They come first in the next test. */
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

  /** Connects to an MCP server and synchronises its tools in all systems with this connection. Does not throw when the test fails. */
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
      // Only the origin, because some servers have a key in the path or query of their URL.
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

  /** Tests the stored connection of a system in the background. Audits only changed tools. */
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

  /** Synchronises systems in the order of their last synchronisation, so that none starves. */
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

  /** Synchronises one system. @returns undefined when it was removed or got another connection during the test */
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

/** Returns the audit outcome of a call to an external party. @param cause cause of a failure, if it failed */
export function auditOutcome(cause: string | undefined): AuditOutcome {
  if (cause === undefined) {
    return AuditOutcome.Ok;
  }
  return cause === 'timeout' || cause === 'token_timeout' ? AuditOutcome.Timeout : AuditOutcome.Error;
}

function lastSync({ toolsSynchronisedAt }: SystemEntity): number {
  return toolsSynchronisedAt?.getTime() ?? 0;
}
