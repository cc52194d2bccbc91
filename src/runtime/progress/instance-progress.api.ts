import { HttpStatus } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';
import { denialOf } from '../../platform/auth/auth.errors.js';
import { Permission } from '../../platform/auth/permission.js';
import { apiRoutes } from '../../platform/http/api-routes.js';
import { HEADER_MAX_LENGTH } from '../../platform/http/request.decorators.js';
import {
  EndProgressEventDto,
  HistoryProgressEventDto,
  InstanceProgressEventDto,
} from './progress-event.dto.js';
import { PROGRESS_EXAMPLE } from '../reading/instance.examples.js';

const SCHEMAS = {
  instance: getSchemaPath(InstanceProgressEventDto),
  history: getSchemaPath(HistoryProgressEventDto),
  end: getSchemaPath(EndProgressEventDto),
};
const EVENTS = Object.values(SCHEMAS).map(($ref) => ({ $ref }));
const MAPPING: Record<string, string> = SCHEMAS;

export const InstanceProgressApi = apiRoutes([], {
  followProcessInstance: {
    summary: 'Follow a process instance',
    description:
      'Extension of the contract. Server-sent events: `instance` with the present state, as the instance itself is answered, then ' +
      '`history` for each event of the audit trail, and `end` when the instance ends. The `id` is the number of the event; with it ' +
      'as `Last-Event-ID` the stream goes on behind it, without a new `instance`; behind the last event of an instance that has ended there is 204, and no reason to ask again. The stream ends with the token of the caller, ' +
      'when the caller may no longer read the instance, and after half an hour; who takes nothing for ' +
      '30 seconds is cut off. Connections are limited, of one caller and in all (429).',
    headers: [
      {
        name: 'Last-Event-ID',
        required: false,
        description: 'Number of the last event that the caller knows; anything that is no number is ignored.',
        schema: { type: 'string', maxLength: HEADER_MAX_LENGTH },
      },
    ],
    answer: {
      content: {
        'text/event-stream': {
          schema: { oneOf: EVENTS, discriminator: { propertyName: 'event', mapping: MAPPING } },
          example: PROGRESS_EXAMPLE,
        },
      },
      description:
        'Events, until the stream ends. The schema is that of each event; `data` is its line of JSON, sent as `event: history`, `id: 6`, `data: {…}` and an empty line.',
    },
    others: [
      {
        status: HttpStatus.NO_CONTENT,
        description: 'The instance has ended, and the caller knows its last event.',
      },
    ],
    errors: [{ 403: denialOf(Permission.ProcessRead) }, { 404: 'Process instance not found.' }],
  },
});
