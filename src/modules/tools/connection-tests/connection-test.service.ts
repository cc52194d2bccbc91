import { Injectable } from '@nestjs/common';
import { SERVICE_ITSELF, type Principal } from '../../../common/user/principal.js';
import { outgoingTraceparent } from '../../../common/logging/request-context.js';
import { Database } from '../../../database/database.js';
import { McpConnectionService } from '../../mcp-connection/mcp-connection.service.js';
import type { SystemEntity } from '../../systems/storage/system.entity.js';
import { credentialsOf, tlsPart } from '../../systems/lookups/system-connections.service.js';
import type { Connection, SystemKey } from '../../systems/model/system.types.js';
import { SystemNotFoundError } from '../../systems/model/systems.errors.js';
import { SystemsService } from '../../systems/registration/systems.service.js';
import { ConnectionTestRecords } from './connection-test-records.js';
import type { ConnectionTest, TestedPlace } from './tested-systems.types.js';
import { hashDefinitions } from '../model/tool-definition.js';
import { ToolSyncService, type ServerListing } from '../synchronisation/tool-sync.service.js';
import { ToolsRepository } from '../storage/tools.repository.js';
import type { SyncReport } from '../model/tool.types.js';
import { mcpLimits } from '../../mcp-connection/mcp.limits.js';

/** Tests connections and synchronises the tools of the systems that a test covers (docs/contract.md, section 2.2). */
@Injectable()
export class ConnectionTestService {
  constructor(
    private readonly mcp: McpConnectionService,
    private readonly systems: SystemsService,
    private readonly sync: ToolSyncService,
    private readonly tools: ToolsRepository,
    private readonly records: ConnectionTestRecords,
    private readonly database: Database,
  ) {}

  /** Connects to an MCP server, reads its tools and stores them with every system it covers. Never throws for a failed test. */
  async test(principal: Principal, tested: TestedPlace, connection: Connection): Promise<ConnectionTest> {
    const test = await this.tested(principal, tested, connection);
    await this.records.record(principal, tested, connection, test);
    return test;
  }

  /** As `test` for a system as it is stored, without anybody asking: the audit log hears of changed tools only. */
  async refresh(key: SystemKey, connection: Connection): Promise<void> {
    this.records.refreshed(key, await this.tested(SERVICE_ITSELF, key, connection));
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
      knownToolCount: await this.countTools(covered),
      traceparent: outgoingTraceparent() ?? '',
    });
    const test: ConnectionTest = { result, synchronised: [], postponed: 0 };
    if (result.outcome === 'connected' && covered.length > 0) {
      const listing = { tools: await hashDefinitions(result.tools), description: result.server.description };
      await this.synchroniseAll(principal, covered, { connection, listing, test });
    }
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

  private async countTools(covered: SystemEntity[]): Promise<number> {
    const ids = covered.map(({ id }) => id);
    return ids.length === 0 ? 0 : this.database.read((manager) => this.tools.countPresent(manager, ids));
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
}

function lastSync({ toolsSynchronisedAt }: SystemEntity): number {
  return toolsSynchronisedAt?.getTime() ?? 0;
}
