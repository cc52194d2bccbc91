import { Injectable } from '@nestjs/common';
import type { DomainError } from '../../../common/errors/domain.error.js';
import type { EngineRefusal } from '../engine/state/engine.errors.js';
import type { StopReport } from '../model/process-runtime.types.js';
import type { FailedStepError } from './failed-step.error.js';
import type { FaultOrigin } from './incident-records.js';
import { faultOf, IncidentsService } from './incidents.service.js';
import { toDomainError } from './refusals.js';
import { toStopReport } from './stop-report.js';

/** What the caller is told of a step that was not made. */
@Injectable()
export class StepFailures {
  constructor(private readonly incidents: IncidentsService) {}

  /** The engine refused the step: nothing is recorded. */
  refused(refusal: EngineRefusal): DomainError {
    return toDomainError(refusal);
  }

  /** The engine stopped the step: records the incident that it is told by. */
  async stopped(error: FailedStepError, origin: FaultOrigin): Promise<StopReport> {
    const { instanceId, instanceUuid, incident, definition } = error;
    const uuid = await this.incidents.record(instanceId, faultOf(error), origin);
    return toStopReport(incident, instanceUuid, definition, uuid);
  }
}
