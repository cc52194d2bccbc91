import { Module } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { BuildsModule } from '../builds/builds.module.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { IncidentsService } from './incidents.service.js';
import { InstanceAccessService } from './instance-access.service.js';
import { InstanceAuditService } from './instance-audit.service.js';
import { InstanceDiagramsService } from './instance-diagrams.service.js';
import { InstanceOperationsController } from './instance-operations.controller.js';
import { InstanceOperationsService } from './instance-operations.service.js';
import { InstanceProgressController } from './instance-progress.controller.js';
import { InstanceProgressService } from './instance-progress.service.js';
import { InstanceRetriesService } from './instance-retries.service.js';
import { InstanceSnapshots } from './instance-snapshots.js';
import { InstanceStepsService } from './instance-steps.service.js';
import { ProcessInstancesController } from './process-instances.controller.js';
import { ProcessInstancesService } from './process-instances.service.js';
import { JobSteps } from './jobs/job-steps.js';
import { PROCESS_JOB_HANDLERS, ProcessJobs } from './jobs/process-jobs.js';
import { ScheduledJobs } from './jobs/scheduled-jobs.js';
import { TimerStarts } from './jobs/timer-starts.js';
import { MessageMatcher } from './messages/message-matcher.js';
import { MessageStarts } from './messages/message-starts.js';
import { ProcessStartController } from './process-start.controller.js';
import { ProcessStartService } from './process-start.service.js';
import { RunnableDefinitionsService } from './runnable-definitions.service.js';
import { StoppedWork } from './stopped-work.js';
import { InstanceSignals } from './step/instance-signals.js';
import { ProcessStarter } from './step/process-starter.js';
import { StepAftermath } from './step/step-aftermath.js';
import { StepResources } from './step/step-resources.js';
import { JoinIncidents } from './step/join-incidents.js';
import { StepWriter } from './step/step-writer.js';
import { EventsRepository } from './storage/events.repository.js';
import { IncidentsRepository } from './storage/incidents.repository.js';
import { InstanceListsRepository } from './storage/instance-lists.repository.js';
import { InstancesRepository } from './storage/instances.repository.js';
import { MessagesRepository } from './storage/messages.repository.js';
import { RepeatsRepository } from './storage/repeats.repository.js';
import { RuntimeRows } from './storage/runtime-rows.js';
import { TokensRepository } from './storage/tokens.repository.js';
import { UiActionAccess } from './ui-action-access.js';
import { UiActionExecutionService } from './ui-action-execution.service.js';
import { UiActionPathService } from './ui-action-path.service.js';
import { UiActionRepeats } from './ui-action-repeats.js';

/** Runs processes: instances, tokens, incidents and what goes on in the background. */
@Module({
  imports: [BuildsModule, WorkflowsModule],
  controllers: [
    ProcessStartController,
    ProcessInstancesController,
    InstanceProgressController,
    InstanceOperationsController,
  ],
  providers: [
    ...PROCESS_JOB_HANDLERS,
    Clock,
    EventsRepository,
    IncidentsRepository,
    IncidentsService,
    InstanceAccessService,
    InstanceAuditService,
    InstanceDiagramsService,
    InstanceListsRepository,
    InstanceOperationsService,
    InstanceProgressService,
    InstanceRetriesService,
    StoppedWork,
    InstanceSignals,
    InstanceSnapshots,
    InstanceStepsService,
    InstancesRepository,
    JobSteps,
    MessageMatcher,
    MessageStarts,
    MessagesRepository,
    ProcessInstancesService,
    ProcessJobs,
    ProcessStartService,
    ProcessStarter,
    RepeatsRepository,
    RunnableDefinitionsService,
    RuntimeRows,
    ScheduledJobs,
    StepAftermath,
    StepResources,
    JoinIncidents,
    StepWriter,
    TimerStarts,
    TokensRepository,
    UiActionAccess,
    UiActionExecutionService,
    UiActionPathService,
    UiActionRepeats,
  ],
  exports: [UiActionExecutionService, UiActionPathService],
})
export class ProcessRuntimeModule {}
