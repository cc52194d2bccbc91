import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../../common/clock.js';
import { Database } from '../../../database/database.js';
import { IdBlocks } from '../../../database/id-blocks.js';
import type { Job, JobContext, JobHandler } from '../../jobs/model/job-queue.types.js';
import { JobQueueService } from '../../jobs/queue/job-queue.service.js';
import { Env } from '../../../config/env.js';
import { JobHandlersService } from '../../jobs/queue/job-handlers.service.js';
import { ToolCallsService } from '../../mcp-connection/calls/tool-calls.service.js';
import { ToolRefreshesService } from './tool-refreshes.service.js';
import { jobLimits } from '../../jobs/job.limits.js';

/** Kind of the job that is a round of refreshes, and the key that keeps it single. */
export const TOOL_REFRESH_JOB = 'TOOL_REFRESH';

const MINUTE_MS = 60_000;

/** The job of the next round, a minute from now. Not inside of a transaction. */
@Injectable()
export class ToolRefreshJobs {
  constructor(
    private readonly queue: JobQueueService,
    private readonly ids: IdBlocks,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Adds the first one, unless there is one. */
  async add(): Promise<void> {
    const id = await this.ids.next('job');
    await this.database.write((manager) => this.addTo(manager, id));
  }

  /** Ends a round, and adds the next one. */
  async replace(job: Job): Promise<void> {
    const id = await this.ids.next('job');
    await this.database.write(async (manager) => {
      await this.queue.complete(manager, job);
      await this.addTo(manager, id);
    });
  }

  /** Ends a round, and adds none. */
  async end(job: Job): Promise<void> {
    await this.database.write((manager) => this.queue.complete(manager, job));
  }

  private async addTo(manager: EntityManager, id: number): Promise<void> {
    const availableAt = new Date(this.clock.now().getTime() + MINUTE_MS);
    const kind = TOOL_REFRESH_JOB;
    await this.queue.add(manager, [{ id, kind, availableAt, payload: {}, dedupeKey: kind }]);
  }
}

/** A lease is renewed so often before it ends that a few renewals may fail. */
const RENEWALS = 4;

/** Reads the tools of systems that are due again: a round each minute, in one replica at a time. Never given up. */
@Injectable()
export class ToolRefreshHandler implements JobHandler, OnModuleInit, OnApplicationBootstrap {
  readonly kind = TOOL_REFRESH_JOB;
  /** Longer than that of short jobs, which a round must not stand in the way of. */
  readonly leaseMs: number;
  private readonly intervalMs: number;

  constructor(
    private readonly handlers: JobHandlersService,
    private readonly jobs: ToolRefreshJobs,
    private readonly refreshes: ToolRefreshesService,
    private readonly toolCalls: ToolCallsService,
    env: Env,
  ) {
    this.intervalMs = env.get('MCP_REFRESH_MINUTES') * MINUTE_MS;
    this.leaseMs = Math.max(MINUTE_MS, jobLimits.leaseMs + 1);
  }

  onModuleInit(): void {
    this.handlers.register(this);
    if (this.intervalMs > 0) {
      this.toolCalls.onListChanged((systemId) => void this.refreshes.announced(systemId));
    }
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.intervalMs > 0) {
      await this.jobs.add();
    }
  }

  /** Where the setting is off, no round follows. */
  async run(job: Job, context: JobContext): Promise<void> {
    if (this.intervalMs === 0) {
      await this.jobs.end(job);
      return;
    }
    const renewal = setInterval(
      () => void context.heartbeat().catch(() => undefined),
      this.leaseMs / RENEWALS,
    );
    try {
      await this.refreshes.round(this.intervalMs, context.signal);
    } finally {
      clearInterval(renewal);
    }
    await this.jobs.replace(job);
  }
}
