import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { JobHandlersService } from '../../jobs/queue/job-handlers.service.js';
import { CallHandler } from './call.handler.js';
import { CleanupHandler } from './cleanup.handler.js';
import { EndChildrenHandler } from './end-children.handler.js';
import { AppendToParentHandler, NotifyParentHandler } from './family.handlers.js';
import { MatchMessageHandler, PublishMessageHandler } from './message.handlers.js';
import { TimerStartHandler } from './timer-start.handler.js';
import {
  ActionDueHandler,
  ContinueHandler,
  DeliveryHandler,
  ExpiryHandler,
  TimerHandler,
} from './token-job.handlers.js';
import { WorkflowHandler } from './workflow.handler.js';

/** Everything that runs in the background of processes. */
export const PROCESS_JOB_HANDLERS = [
  ActionDueHandler,
  AppendToParentHandler,
  CallHandler,
  CleanupHandler,
  ContinueHandler,
  DeliveryHandler,
  EndChildrenHandler,
  ExpiryHandler,
  MatchMessageHandler,
  NotifyParentHandler,
  PublishMessageHandler,
  TimerHandler,
  TimerStartHandler,
  WorkflowHandler,
];

/** Tells the workers which handlers there are. */
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
