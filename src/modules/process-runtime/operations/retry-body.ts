import type { ApiBodyOptions } from '@nestjs/swagger';
import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import { ANY_OBJECT } from '../../../common/http/api-routes.js';
import { isJsonObject, type JsonObject } from '../../../common/json.js';

/** What the OpenAPI document says of the body of a retry. */
export const RETRY_BODY: ApiBodyOptions = {
  required: false,
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      data: {
        ...ANY_OBJECT,
        description:
          'Process data that are corrected before the retry, as a JSON merge patch (RFC 7396): members are merged, `null` removes one, lists are replaced. ' +
          'Permission `process-data`, and whatever reading the instance asks for; the schemas of the process hold.',
      },
    },
  },
  examples: {
    none: { summary: 'With the data as they are', value: {} },
    corrected: {
      summary: 'With corrected data',
      value: { data: { client: { birthDate: '1990-12-31', nickname: null } } },
    },
  },
};

/**
 * The merge patch of process data that a retry brings; undefined without one.
 * @throws ValidationFailedError
 */
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
