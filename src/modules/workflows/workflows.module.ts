import { Module } from '@nestjs/common';
import { BuildsModule } from '../builds/builds.module.js';
import { NodeExecutorsService } from './node-executors.service.js';
import { CallStore } from './call-store.js';
import { RunStore } from './run-store.js';
import { WorkflowCallsRepository } from './workflow-calls.repository.js';
import { WorkflowRunsController } from './workflow-runs.controller.js';
import { WorkflowRunsRepository } from './workflow-runs.repository.js';
import { WorkflowRunsService } from './workflow-runs.service.js';

/** Runs workflows and shows what they did. */
@Module({
  imports: [BuildsModule],
  controllers: [WorkflowRunsController],
  providers: [
    CallStore,
    NodeExecutorsService,
    RunStore,
    WorkflowCallsRepository,
    WorkflowRunsRepository,
    WorkflowRunsService,
  ],
  exports: [NodeExecutorsService, WorkflowRunsService],
})
export class WorkflowsModule {}
