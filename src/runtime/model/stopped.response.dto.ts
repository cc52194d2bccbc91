import { Answer, AnswerWith, Shows, shows } from '../../platform/openapi/answer-fields.decorators.js';
import { ErrorResponseDto } from '../../platform/errors/error.response.dto.js';
import type { IncidentType } from '#engine/tokens';

/** Incident that stopped a requested step. */
export class StopReport extends Answer({
  uuid: Shows.uuidOrNull(
    '`uuid` of the incident; null if none was recorded because the instance has reached its limit of open incidents.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
  ),
  processInstanceUuid: Shows.uuid('`uuid` of the process instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
  code: shows<IncidentType>({ type: 'string' })('`type` of the incident.', 'GATEWAY_EVALUATION'),
  bpmnElementId: Shows.textOrNull(
    'Id of the element in the BPMN file; null when the incident affects the whole process.',
    'rating_known',
  ),
  message: Shows.value(
    'Message of the incident.',
    'The expression "rating.total > 5" failed: no such key: rating',
  ),
}) {}

/** Error body of a request that can stop the process. */
export class ProcessErrorResponseDto extends AnswerWith(ErrorResponseDto, {
  incident: shows<StopReport | undefined>({ type: StopReport, required: false })(
    'Why the process stopped, if it did.',
  ),
}) {}

/** Example of a 409 with an incident, for the OpenAPI document. */
export const STOPPED = {
  message:
    'The process stopped with an incident: The expression "rating.total > 5" failed: no such overload.',
  details:
    'process instance 01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10, incident 01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40, GATEWAY_EVALUATION at rating_known',
  type: ProcessErrorResponseDto,
};
