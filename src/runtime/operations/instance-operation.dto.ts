import { type ApiBodyOptions } from '@nestjs/swagger';
import { Answer, AnswerWith, Shows, shows } from '../../platform/openapi/answer-fields.decorators.js';
import { ShowsInstanceState } from '../model/start.response.dto.js';
import { ValidationFailedError } from '../../platform/errors/request.errors.js';
import { ANY_OBJECT } from '../../platform/http/api-routes.js';
import { isJsonObject, type JsonObject } from '#engine/json';

export class InstanceOperationDto extends Answer({
  uuid: Shows.uuid('The instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
  state: ShowsInstanceState('Current state of the instance.', 'ONHOLD'),
}) {}

/** An incident that could not be retried. */
export class IncidentNotRetriedDto extends Answer({
  uuid: Shows.uuid('The incident, which stays open.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40'),
  message: Shows.value(
    'Why it could not be retried.',
    'The process stopped with an incident: The collection orders is not a list.',
  ),
}) {}

export class InstanceRetryDto extends AnswerWith(InstanceOperationDto, {
  retriedIncidents: Shows.texts(
    'Closed incidents. If the work fails again in the background, a new incident is raised.',
    ['01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30'],
  ),
  notRetried: shows<IncidentNotRetriedDto[] | undefined>({
    type: [IncidentNotRetriedDto],
    required: false,
  })('Incidents that could not be retried, if others could; absent if all were retried.'),
}) {}

/** Body of a retry in the OpenAPI document. */
export const RETRY_BODY: ApiBodyOptions = {
  required: false,
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      data: {
        ...ANY_OBJECT,
        description:
          'Correction of process data before the retry, as a JSON merge patch (RFC 7396): members are merged, `null` removes one, lists are replaced. ' +
          'Requires the permission `process-data` and the right to read the instance. The data must match the schemas of the process.',
      },
    },
  },
  examples: {
    none: { summary: 'With unchanged data', value: {} },
    corrected: {
      summary: 'With corrected data',
      value: { data: { client: { birthDate: '1990-12-31', nickname: null } } },
    },
  },
};

/** Returns the merge patch of a retry; undefined without one. @throws ValidationFailedError */
export function readRetryBody(body: Record<string, unknown>): JsonObject | undefined {
  const { data, ...others } = body;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new ValidationFailedError([{ field: unknown, rule: 'is not a known field' }]);
  }
  if (data !== undefined && !isJsonObject(data)) {
    throw new ValidationFailedError([{ field: 'data', rule: 'must be an object' }]);
  }
  return data;
}
