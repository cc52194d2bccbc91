import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { Log } from '../../../platform/observability/logging/log.js';
import { Env } from '../../../platform/config/env.js';
import { Database } from '../../../store/database.js';
import { IdBlocks } from '../../../store/ids/id-blocks.js';
import { jobLimits } from '../../../jobs/job.limits.js';
import type { Job, JobContext, JobHandler } from '../../../jobs/model/job-queue.types.js';
import { JobHandlersService } from '../../../jobs/queue/job-handlers.service.js';
import { JobQueueService } from '../../../jobs/queue/job-queue.service.js';
import { ToolCallsService } from '../../mcp-connection/calls/tool-calls.service.js';
import { SystemConnectionsService } from '../../lookups/system-connections.service.js';
import { ToolReadingsService, type DueSystem } from '../../lookups/tool-readings.service.js';
import { ConnectionTestService } from '../connection-tests/connection-test.service.js';

const MINUTE_MS = 60_000;
/** Maximum number of servers in one round, and the time after which a round starts no further server. */
const SERVERS_PER_ROUND = 20;
const ROUND_MS = 30_000;
/** Relative jitter of intervals, so that servers registered together are not refreshed together for ever. */
const JITTER = 0.1;
/** Renewals per lease, so that a few of them may fail. */
const RENEWALS = 4;

/** Refreshes tool lists at an interval and after a server reports a changed list. Call it outside transactions. */
@Injectable()
export class ToolRefreshes {
  constructor(
    private readonly readings: ToolReadingsService,
    private readonly connections: SystemConnectionsService,
    private readonly tests: ConnectionTestService,
    private readonly toolCalls: ToolCallsService,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  get inOneMinute(): Date {
    return new Date(this.clock.now().getTime() + MINUTE_MS);
  }

  /** Refreshes the systems that are due, longest overdue first. */
  async round(intervalMs: number, signal: AbortSignal): Promise<void> {
    const endsAt = performance.now() + ROUND_MS;
    for (const system of await this.readings.due(this.clock.now(), SERVERS_PER_ROUND)) {
      if (signal.aborted || performance.now() > endsAt) {
        return;
      }
      await this.refresh(system, intervalMs);
    }
  }

  /** Refreshes one system. Sets the next time first, so that a server that always fails is also retried at the interval. */
  private async refresh(system: DueSystem, intervalMs: number): Promise<void> {
    const now = this.clock.now();
    const spread = 1 + JITTER * (2 * Math.random() - 1);
    if (!(await this.readings.claim(system, now, new Date(now.getTime() + intervalMs * spread)))) {
      return;
    }
    const { resourceId: systemResourceId } = system;
    try {
      const { result } = await this.tests.refresh(system, await this.connections.ofSystem(system));
      if (result.outcome !== 'connected') {
        const { cause } = result;
        this.log.warn('tools of a system could not be refreshed', { systemResourceId, cause });
      }
    } catch (error) {
      this.log.error('tool refresh of a system failed', error, { systemResourceId });
    }
  }

  /** Schedules a refresh one minute after each reported change, so that a server cannot trigger more than one refresh per minute. */
  listen(): void {
    this.toolCalls.onListChanged((systemId) => {
      this.readings
        .bringForward(systemId, this.inOneMinute)
        .catch((error: unknown) =>
          this.log.error('refresh of a changed tool list could not be scheduled', error),
        );
    });
  }
}

/** Runs a round of refreshes each minute, in only one replica. Never given up. */
@Injectable()
export class ToolRefreshHandler implements JobHandler, OnModuleInit, OnApplicationBootstrap {
  /** Also the dedupe key, so that there is only one job. */
  readonly kind = 'TOOL_REFRESH';
  /** Longer than the lease of short jobs, so that a round runs in the long lane and does not block them. */
  readonly leaseMs = Math.max(MINUTE_MS, jobLimits.leaseMs + 1);
  private readonly intervalMs: number;

  constructor(
    private readonly handlers: JobHandlersService,
    private readonly queue: JobQueueService,
    private readonly ids: IdBlocks,
    private readonly database: Database,
    private readonly refreshes: ToolRefreshes,
    env: Env,
  ) {
    this.intervalMs = env.get('MCP_REFRESH_MINUTES') * MINUTE_MS;
  }

  onModuleInit(): void {
    this.handlers.register(this);
    if (this.intervalMs > 0) {
      this.refreshes.listen();
    }
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.schedule();
  }

  async run(job: Job, context: JobContext): Promise<void> {
    if (this.intervalMs > 0) {
      const heartbeat = (): void => void context.heartbeat().catch(() => undefined);
      const renewal = setInterval(heartbeat, this.leaseMs / RENEWALS);
      await this.refreshes.round(this.intervalMs, context.signal).finally(() => clearInterval(renewal));
    }
    await this.schedule(job);
  }

  /** Adds the next round, unless there is one or the setting is off. @param ended job of the previous round */
  private async schedule(ended?: Job): Promise<void> {
    const { kind } = this;
    const id = await this.ids.next('job');
    await this.database.write(async (manager) => {
      if (ended !== undefined) {
        await this.queue.complete(manager, ended);
      }
      if (this.intervalMs > 0) {
        const availableAt = this.refreshes.inOneMinute;
        await this.queue.add(manager, [{ id, kind, availableAt, payload: {}, dedupeKey: kind }]);
      }
    });
  }
}
