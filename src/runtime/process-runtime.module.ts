import { Module } from '@nestjs/common';
import { RedisModule } from '../platform/redis/redis.service.js';
import { BuildsModule } from '../delivery/builds/builds.module.js';
import { WorkflowsModule } from './calls/workflows/workflows.module.js';
import { IncidentInboxController } from './reading/incident-inbox.controller.js';
import { IncidentInboxService } from './reading/incident-inbox.service.js';
import { IncidentMetrics } from './steps/incident-metrics.js';
import { IncidentsService } from './steps/incidents.service.js';
import { InstanceAccessService, UiActionAccess } from './access/instance-access.service.js';
import { InstanceAuditService } from './operations/instance-audit.service.js';
import { InstanceOperationsController } from './operations/instance-operations.controller.js';
import { InstanceOperationsService } from './operations/instance-operations.service.js';
import { InstanceProgressController } from './progress/instance-progress.controller.js';
import { InstanceProgressService } from './progress/instance-progress.service.js';
import { InstanceRetriesService } from './operations/instance-retries.service.js';
import { InstanceSnapshots } from './reading/instance-snapshots.js';
import { InstanceStepsService } from './steps/instance-steps.service.js';
import {
  ProcessInstancesController,
  RunningProcessesController,
} from './reading/process-instances.controller.js';
import { ProcessStatisticsController } from './reading/process-statistics.controller.js';
import { ProcessStatisticsService } from './reading/process-statistics.service.js';
import { ProcessInstancesService } from './reading/process-instances.service.js';
import { JobSteps } from './background/job-steps.js';
import { PROCESS_JOB_HANDLERS, ProcessJobs } from './background/process-jobs.js';
import { ScheduledJobs } from './background/scheduled-jobs.js';
import { MessageDeliveries, MessageStarts } from './background/message-deliveries.js';
import { ProcessStartController, StartableProcessesController } from './starts/process-start.controller.js';
import { ProcessStartService } from './starts/process-start.service.js';
import { TasksController } from './reading/tasks.controller.js';
import { TasksService } from './reading/tasks.service.js';
import { RunnableDefinitionsService } from './definitions/runnable-definitions.service.js';
import { StoppedWork } from './operations/stopped-work.js';
import { StepNotices } from './steps/step-notices.js';
import { ProcessStarter } from './steps/process-starter.js';
import { QuotasModule } from './quotas/quotas.module.js';
import { RepeatsModule } from '../idempotency/repeats.module.js';
import { StepResources } from './steps/step-resources.js';
import { StepWriter } from './steps/step-writer.js';
import { StepWork } from './steps/step-work.js';
import { CorrectionsRepository } from './storage/corrections.repository.js';
import { FamilyLimits } from './steps/family-limits.js';
import { InstanceListsRepository } from './storage/instance-lists.repository.js';
import { UiActionExecutionService } from './ui-actions/ui-action-execution.service.js';

/** Runs processes: instances, tokens, incidents and background work. */
@Module({
  imports: [BuildsModule, QuotasModule, RedisModule, RepeatsModule, WorkflowsModule],
  controllers: [
    ProcessStartController,
    StartableProcessesController,
    ProcessInstancesController,
    ProcessStatisticsController,
    RunningProcessesController,
    IncidentInboxController,
    InstanceProgressController,
    InstanceOperationsController,
    TasksController,
  ],
  providers: [
    ...PROCESS_JOB_HANDLERS,
    CorrectionsRepository,
    FamilyLimits,
    IncidentInboxService,
    IncidentMetrics,
    IncidentsService,
    InstanceAccessService,
    InstanceAuditService,
    InstanceListsRepository,
    InstanceOperationsService,
    InstanceProgressService,
    InstanceRetriesService,
    StoppedWork,
    InstanceSnapshots,
    InstanceStepsService,
    JobSteps,
    MessageDeliveries,
    MessageStarts,
    ProcessInstancesService,
    ProcessJobs,
    ProcessStartService,
    ProcessStarter,
    ProcessStatisticsService,
    RunnableDefinitionsService,
    ScheduledJobs,
    StepNotices,
    StepResources,
    StepWriter,
    StepWork,
    TasksService,
    UiActionAccess,
    UiActionExecutionService,
  ],
  exports: [UiActionExecutionService],
})
export class ProcessRuntimeModule {}
