import { Module } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { BuildsModule } from '../builds/builds.module.js';
import { WorkflowsModule } from '../workflows/workflows.module.js';
import { IncidentsService } from './steps/incidents.service.js';
import { InstanceAccessService } from './access/instance-access.service.js';
import { InstanceAuditService } from './operations/instance-audit.service.js';
import { InstanceDiagramsService } from './reading/instance-diagrams.service.js';
import { InstanceOperationsController } from './operations/instance-operations.controller.js';
import { InstanceOperationsService } from './operations/instance-operations.service.js';
import { InstanceProgressController } from './progress/instance-progress.controller.js';
import { InstanceProgressService } from './progress/instance-progress.service.js';
import { InstanceRetriesService } from './operations/instance-retries.service.js';
import { InstanceSnapshots } from './reading/instance-snapshots.js';
import { InstanceStepsService } from './steps/instance-steps.service.js';
import { ProcessInstancesController } from './reading/process-instances.controller.js';
import { ProcessInstancesService } from './reading/process-instances.service.js';
import { JobSteps } from './background/job-steps.js';
import { PROCESS_JOB_HANDLERS, ProcessJobs } from './background/process-jobs.js';
import { ScheduledJobs } from './background/scheduled-jobs.js';
import { TimerStarts } from './background/timer-starts.js';
import { MessageMatcher } from './background/message-matcher.js';
import { MessageStarts } from './background/message-starts.js';
import { ProcessStartController } from './starts/process-start.controller.js';
import { ProcessStartService } from './starts/process-start.service.js';
import { RunnableDefinitionsService } from './definitions/runnable-definitions.service.js';
import { StoppedWork } from './operations/stopped-work.js';
import { InstanceSignals } from './steps/instance-signals.js';
import { ProcessStarter } from './steps/process-starter.js';
import { StepAftermath } from './steps/step-aftermath.js';
import { StepResources } from './steps/step-resources.js';
import { JoinIncidents } from './steps/join-incidents.js';
import { StepWriter } from './steps/step-writer.js';
import { EventsRepository } from './storage/events.repository.js';
import { IncidentsRepository } from './storage/incidents.repository.js';
import { InstanceListsRepository } from './storage/instance-lists.repository.js';
import { InstancesRepository } from './storage/instances.repository.js';
import { MessagesRepository } from './storage/messages.repository.js';
import { RepeatsRepository } from './storage/repeats.repository.js';
import { RuntimeRows } from './storage/runtime-rows.js';
import { TokensRepository } from './storage/tokens.repository.js';
import { UiActionAccess } from './access/ui-action-access.js';
import { UiActionExecutionService } from './ui-actions/ui-action-execution.service.js';
import { UiActionPathService } from './ui-actions/ui-action-path.service.js';
import { UiActionRepeats } from './ui-actions/ui-action-repeats.js';

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
