import { Module } from '@nestjs/common';
import { RedisModule } from '../../common/redis/redis.module.js';
import { BuildsModule } from '../builds/builds.module.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { IncidentInboxController } from './reading/incident-inbox.controller.js';
import { IncidentInboxService } from './reading/incident-inbox.service.js';
import { IncidentMetrics } from './steps/incident-metrics.js';
import { IncidentContexts } from './steps/incident-contexts.js';
import { IncidentCountsRepository } from './storage/incident-counts.repository.js';
import { IncidentListsRepository } from './storage/incident-lists.repository.js';
import { IncidentsService } from './steps/incidents.service.js';
import { IncidentRecords } from './steps/incident-records.js';
import { InstanceAccessService } from './access/instance-access.service.js';
import { InstanceAuditService } from './operations/instance-audit.service.js';
import { InstanceDiagramsService } from './reading/instance-diagrams.service.js';
import { InstanceOperationsController } from './operations/instance-operations.controller.js';
import { InstanceOperationsService } from './operations/instance-operations.service.js';
import { InstanceProgressController } from './progress/instance-progress.controller.js';
import { Followers } from './progress/followers.js';
import { InstanceProgressService } from './progress/instance-progress.service.js';
import { RetryRecords } from './operations/retry-records.js';
import { InstanceRetriesService } from './operations/instance-retries.service.js';
import { InstanceSnapshots } from './reading/instance-snapshots.js';
import { InstanceTrails } from './reading/instance-trails.js';
import { InstanceStepsService } from './steps/instance-steps.service.js';
import { InstanceLocks } from './steps/instance-locks.js';
import { ProcessInstancesController } from './reading/process-instances.controller.js';
import { ProcessStatisticsController } from './reading/process-statistics.controller.js';
import { ProcessStatisticsService } from './reading/process-statistics.service.js';
import { RunningProcessesController } from './reading/running-processes.controller.js';
import { ProcessInstancesService } from './reading/process-instances.service.js';
import { JobSteps } from './background/job-steps.js';
import { JobOwners } from './background/job-owners.js';
import { ExpiredRows } from './background/expired-rows.js';
import { PROCESS_JOB_HANDLERS, ProcessJobs } from './background/process-jobs.js';
import { ScheduledJobs } from './background/scheduled-jobs.js';
import { TimerStarts } from './background/timer-starts.js';
import { MessageMatcher } from './background/message-matcher.js';
import { MessageDeliveries } from './background/message-deliveries.js';
import { TimerOutbox } from './background/timer-outbox.js';
import { MessagePublishing } from './background/message-publishing.js';
import { MessageHandOvers } from './background/message-hand-overs.js';
import { MessageStarts } from './background/message-starts.js';
import { PendingCalls } from './background/pending-calls.js';
import { ProcessStartController } from './starts/process-start.controller.js';
import { ProcessStartService } from './starts/process-start.service.js';
import { StartableProcessesController } from './starts/startable-processes.controller.js';
import { StartableProcessesService } from './starts/startable-processes.service.js';
import { TasksController } from './reading/tasks.controller.js';
import { TasksService } from './reading/tasks.service.js';
import { RunnableDefinitionsService } from './definitions/runnable-definitions.service.js';
import { StoppedWork } from './operations/stopped-work.js';
import { InstanceSignals } from './steps/instance-signals.js';
import { ProcessStarter } from './steps/process-starter.js';
import { ProcessQuotas } from './steps/process-quotas.js';
import { QuotasModule } from '../quotas/quotas.module.js';
import { RepeatsModule } from '../repeats/repeats.module.js';
import { StepNotices } from './steps/step-notices.js';
import { StepResources } from './steps/step-resources.js';
import { StepFailures } from './steps/step-failures.js';
import { JoinIncidents } from './steps/join-incidents.js';
import { StepWriter } from './steps/step-writer.js';
import { StepWork } from './steps/step-work.js';
import { CorrectionsRepository } from './storage/corrections.repository.js';
import { EventsRepository } from './storage/events.repository.js';
import { FamiliesRepository } from './storage/families.repository.js';
import { FamilyLimits } from './steps/family-limits.js';
import { FamilyMetrics } from './steps/family-metrics.js';
import { IncidentsRepository } from './storage/incidents.repository.js';
import { InstanceListsRepository } from './storage/instance-lists.repository.js';
import { InstancesRepository } from './storage/instances.repository.js';
import { MessagesRepository } from './storage/messages.repository.js';
import { ProcessStatisticsRepository } from './storage/process-statistics.repository.js';
import { TokensRepository } from './storage/tokens.repository.js';
import { UiActionAccess } from './access/ui-action-access.js';
import { UiActionExecutionService } from './ui-actions/ui-action-execution.service.js';
import { UiActionPathService } from './ui-actions/ui-action-path.service.js';
import { WithdrawnBuilds } from './background/withdrawn-builds.js';
import { UiActionRepeats } from './ui-actions/ui-action-repeats.js';

/** Runs processes: instances, tokens, incidents and what goes on in the background. */
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
    EventsRepository,
    ExpiredRows,
    FamiliesRepository,
    FamilyLimits,
    FamilyMetrics,
    Followers,
    IncidentContexts,
    IncidentCountsRepository,
    IncidentInboxService,
    IncidentListsRepository,
    IncidentMetrics,
    IncidentsRepository,
    IncidentsService,
    IncidentRecords,
    InstanceAccessService,
    InstanceAuditService,
    InstanceDiagramsService,
    InstanceListsRepository,
    InstanceOperationsService,
    InstanceProgressService,
    InstanceRetriesService,
    RetryRecords,
    StoppedWork,
    InstanceSignals,
    InstanceSnapshots,
    InstanceTrails,
    InstanceStepsService,
    InstanceLocks,
    InstancesRepository,
    JobSteps,
    JobOwners,
    MessageMatcher,
    MessageDeliveries,
    MessagePublishing,
    MessageHandOvers,
    MessageStarts,
    PendingCalls,
    MessagesRepository,
    ProcessInstancesService,
    ProcessJobs,
    ProcessQuotas,
    ProcessStartService,
    ProcessStarter,
    ProcessStatisticsRepository,
    ProcessStatisticsService,
    RunnableDefinitionsService,
    ScheduledJobs,
    StartableProcessesService,
    StepNotices,
    StepResources,
    StepFailures,
    JoinIncidents,
    StepWriter,
    StepWork,
    TasksService,
    TimerOutbox,
    TimerStarts,
    TokensRepository,
    UiActionAccess,
    UiActionExecutionService,
    UiActionPathService,
    UiActionRepeats,
    WithdrawnBuilds,
  ],
  exports: [UiActionExecutionService, UiActionPathService],
})
export class ProcessRuntimeModule {}
