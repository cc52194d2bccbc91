import { denialOf } from '../../../common/auth/auth.errors.js';
import { Permission } from '../../../common/auth/permission.js';
import { apiRoutes } from '../../../common/http/api-routes.js';
import { HEADER_MAX_LENGTH } from '../../../common/http/request-header.decorator.js';
import { PROGRESS_EXAMPLE } from '../reading/instance.examples.js';

/** What the OpenAPI document says of the routes beside it. */
export const InstanceProgressApi = apiRoutes([], {
  followProcessInstance: {
    summary: 'Follow a process instance',
    description:
      'Extension of the contract. Server-sent events: `instance` with the present state, as the instance itself is answered, then ' +
      '`history` for each event of the audit trail, and `end` when the instance ends. The `id` is the number of the event; with it ' +
      'as `Last-Event-ID` the stream goes on behind it, without a new `instance`. The stream ends with the token of the caller, ' +
      'when the caller may no longer read the instance, and after `PROCESS_PROGRESS_MAX_SECONDS`; who takes nothing for ' +
      '`PROCESS_PROGRESS_STALL_SECONDS` is cut off. Connections are limited, of one caller and in all (429).',
    headers: [
      {
        name: 'Last-Event-ID',
        required: false,
        description: 'Number of the last event that the caller knows; anything that is no number is ignored.',
        schema: { type: 'string', maxLength: HEADER_MAX_LENGTH, example: '6' },
      },
    ],
    answer: {
      content: { 'text/event-stream': { schema: { type: 'string' }, example: PROGRESS_EXAMPLE } },
      description: 'Events, until the stream ends.',
    },
    errors: [{ 403: denialOf(Permission.ProcessRead) }, { 404: 'Process instance not found.' }],
  },
});
