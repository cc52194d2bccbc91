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
      'Extension of the contract. Server-sent events: first `instance` with the current state, as in `getProcessInstance`, then ' +
      '`history` for each event of the audit trail, and `end` when the instance ends. The `id` is the number of the event. With it ' +
      'as `Last-Event-ID` the stream resumes after that event, without a new `instance`. If the instance has ended and no event is left, the answer is 204 and clients should stop reconnecting. The stream ends when the bearer token expires, ' +
      'when the caller may no longer read the instance, and after half an hour. Clients that read nothing for ' +
      '30 seconds are disconnected. Connections are limited per caller and in total (429).',
    headers: [
      {
        name: 'Last-Event-ID',
        required: false,
        description: 'Number of the last event that the client received; ignored if it is not a number.',
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
        'Events until the stream ends. The schema describes one event, which is sent as `event: history`, `id: 6`, `data: {…}` and an empty line; `data` is JSON on one line.',
    },
    others: [
      {
        status: HttpStatus.NO_CONTENT,
        description: 'The instance has ended, and the client has received its last event.',
      },
    ],
    errors: [{ 403: denialOf(Permission.ProcessRead) }, { 404: 'Process instance not found.' }],
  },
});
