import { Module } from '@nestjs/common';
import { AuditModule } from '../../../audit/audit.module.js';
import { BuildsModule } from '../../../delivery/builds/builds.module.js';
import { RepeatsModule } from '../../../idempotency/repeats.module.js';
import { NodeExecutorsService } from './runs/node-executors.service.js';
import { AuditJobs } from './audit/audit-jobs.service.js';
import { CallStore } from './journal/call-store.js';
import { RunStore } from './journal/run-store.js';
import { TestRunHandler } from './test-runs/test-run.handler.js';
import { TestRunsController } from './test-runs/test-runs.controller.js';
import { TestRunQueue, TestRunsService } from './test-runs/test-runs.service.js';
import { WorkflowCallsRepository } from './storage/workflow-calls.repository.js';
import { WorkflowRunsController } from './reading/workflow-runs.controller.js';
import { WorkflowRunsRepository } from './storage/workflow-runs.repository.js';
import { WorkflowUsageRepository } from './storage/workflow-usage.repository.js';
import { WorkflowUsageService } from './reading/workflow-usage.service.js';
import { WorkflowRunsService } from './runs/workflow-runs.service.js';

/** Runs workflows and shows their runs. */
@Module({
  imports: [AuditModule, BuildsModule, RepeatsModule],
  controllers: [TestRunsController, WorkflowRunsController],
  providers: [
    AuditJobs,
    CallStore,
    NodeExecutorsService,
    RunStore,
    TestRunHandler,
    TestRunQueue,
    TestRunsService,
    WorkflowCallsRepository,
    WorkflowRunsRepository,
    WorkflowRunsService,
    WorkflowUsageRepository,
    WorkflowUsageService,
  ],
  exports: [AuditJobs, NodeExecutorsService, WorkflowRunsService],
})
export class WorkflowsModule {}
