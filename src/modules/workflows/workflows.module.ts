import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { BuildsModule } from '../builds/builds.module.js';
import { NodeExecutorsService } from './node-executors.service.js';
import { CallStore } from './call-store.js';
import { RunStore } from './run-store.js';
import { TestRunHandler } from './test-run.handler.js';
import { TestRunsController } from './test-runs.controller.js';
import { TestRunQueue } from './test-run-queue.js';
import { TestRunsService } from './test-runs.service.js';
import { WorkflowCallsRepository } from './workflow-calls.repository.js';
import { WorkflowRunsController } from './workflow-runs.controller.js';
import { WorkflowRunsRepository } from './workflow-runs.repository.js';
import { WorkflowRunsService } from './workflow-runs.service.js';

/** Runs workflows and shows what they did. */
@Module({
  imports: [AuditModule, BuildsModule],
  controllers: [TestRunsController, WorkflowRunsController],
  providers: [
    CallStore,
    NodeExecutorsService,
    RunStore,
    TestRunHandler,
    TestRunQueue,
    TestRunsService,
    WorkflowCallsRepository,
    WorkflowRunsRepository,
    WorkflowRunsService,
  ],
  exports: [NodeExecutorsService, WorkflowRunsService],
})
export class WorkflowsModule {}
