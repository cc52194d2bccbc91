import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { Env } from '../../../config/env.js';
import type { Job, JobContext, JobHandler } from '../../jobs/model/job-queue.types.js';
import { JobHandlersService } from '../../jobs/queue/job-handlers.service.js';
import { ToolCallsService } from '../../mcp-connection/calls/tool-calls.service.js';
import { TOOL_REFRESH_JOB, ToolRefreshJobs } from './tool-refresh-jobs.js';
import { ToolRefreshesService } from './tool-refreshes.service.js';
import { jobLimits } from '../../jobs/job.limits.js';

const MINUTE_MS = 60_000;
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
