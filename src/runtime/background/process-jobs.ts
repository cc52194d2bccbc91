import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { JobHandlersService } from '../../jobs/queue/job-handlers.service.js';
import type { JobHandler } from '../../jobs/model/job-queue.types.js';
import type { RuntimeJob } from '../steps/runtime-job.js';
import { CallHandler } from './call.handler.js';
import { CleanupHandler } from './cleanup.handler.js';
import { EndChildrenHandler } from './end-children.handler.js';
import { HandOverHandler } from './hand-over.handler.js';
import { MatchMessageHandler, PublishMessageHandler } from './message.handlers.js';
import { TimerStartHandler } from './timer-start.handler.js';
import {
  ActionDueHandler,
  AppendToParentHandler,
  ContinueHandler,
  DeliveryHandler,
  ExpiryHandler,
  NotifyParentHandler,
  TimerHandler,
} from './token-job.handlers.js';
import { WithdrawnBuildHandler } from './withdrawn-build.handler.js';
import { WorkflowHandler } from './workflow.handler.js';

/** START is never queued, but kept with an incident. */
type QueuedKind = Exclude<RuntimeJob['kind'], 'START'>;

/** Handlers by kind of job. A kind without its handler does not compile. */
const HANDLERS: { readonly [Kind in QueuedKind]: Type<JobHandler & { readonly kind: Kind }> } = {
  ACTION_DUE: ActionDueHandler,
  APPEND_TO_PARENT: AppendToParentHandler,
  CALL: CallHandler,
  CONTINUE: ContinueHandler,
  DELIVERY: DeliveryHandler,
  END_CHILDREN: EndChildrenHandler,
  EXPIRY: ExpiryHandler,
  HAND_OVER: HandOverHandler,
  MATCH_MESSAGE: MatchMessageHandler,
  NOTIFY_PARENT: NotifyParentHandler,
  PROCESS_CLEANUP: CleanupHandler,
  PUBLISH_MESSAGE: PublishMessageHandler,
  TIMER: TimerHandler,
  TIMER_START: TimerStartHandler,
  WITHDRAWN_BUILD: WithdrawnBuildHandler,
  WORKFLOW: WorkflowHandler,
};

export const PROCESS_JOB_HANDLERS: readonly Type<JobHandler>[] = Object.values(HANDLERS);

/** Registers the handlers. The service does not start if one of them is missing. */
@Injectable()
export class ProcessJobs implements OnModuleInit {
  constructor(
    private readonly handlers: JobHandlersService,
    private readonly module: ModuleRef,
  ) {}

  onModuleInit(): void {
    for (const handler of PROCESS_JOB_HANDLERS) {
      this.handlers.register(this.module.get(handler));
    }
  }
}
