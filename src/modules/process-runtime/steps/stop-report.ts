import type { DomainError } from '../../../common/errors/domain.error.js';
import { ExpressionError } from '../../../language/expressions/expression.errors.js';
import type { EngineIncident } from '../engine/state/engine.errors.js';
import { ProcessDataMissingError, ProcessIncidentError } from '../model/process-runtime.errors.js';
import type { StopReport } from '../model/process-runtime.types.js';
import type { RunnableDefinition } from '../definitions/runnable-definition.js';

/** What a caller is told of a step that stopped: the very words of its incident. */
export function toStopReport(
  { node, type, message }: EngineIncident,
  processInstanceUuid: string,
  definition: RunnableDefinition,
  incidentUuid: string | null,
): StopReport {
  const bpmnElementId = node === null ? null : (definition.nodeAt(node)?.key ?? null);
  return { uuid: incidentUuid, processInstanceUuid, code: type, bpmnElementId, message };
}

/** Whether it stopped because an expression reads data that is not there. */
export function isOfMissingData({ cause }: EngineIncident): boolean {
  return cause instanceof ExpressionError && cause.reason === 'missing';
}

/** 400 where the caller can mend it by sending more, else 409. */
export function stopError(report: StopReport, isMissing: boolean): DomainError {
  return isMissing ? new ProcessDataMissingError(report) : new ProcessIncidentError(report);
}
