import { Answer, AnswerWith, Shows } from '../../platform/openapi/answer-fields.decorators.js';
import type { ProcessEventKind } from '../model/process-runtime.types.js';
import { ENGINE_EVENT_KINDS } from '#engine/tokens';

/** Node that an event or incident refers to. */
export class InstanceNodeDto extends Answer({
  nodeId: Shows.numberOrNull(
    'Number of the node, which stays the same in later builds; null if no node is concerned.',
    1002,
  ),
  nodeName: Shows.textOrNull('Name of that node.', 'Complete application'),
  bpmnElementId: Shows.textOrNull('Id of the element in the BPMN file.', 'complete_application'),
}) {}

const EVENT_KINDS: ProcessEventKind[] = [...ENGINE_EVENT_KINDS, 'INCIDENT_RAISED', 'INCIDENT_CLOSED'];

/** Event of the audit trail of an instance. */
export class HistoryEventDto extends AnswerWith(InstanceNodeDto, {
  seq: Shows.number('Number of the event, from 1 without gaps.', 3),
  kind: Shows.enum('ProcessEventKind', EVENT_KINDS, 'What happened.', 'NODE_ENTERED'),
  timestamp: Shows.moment('When it happened.', '2026-01-31T10:20:30.123Z'),
  actor: Shows.textOrNull('User name of the caller; null for background work.', 'jane.doe'),
  requestId: Shows.textOrNull(
    'Id of the request that caused it, as in the log.',
    '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
  ),
  tokenUuid: Shows.uuidOrNull(
    'Token concerned; null when the event affects the whole instance.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  ),
  data: Shows.objectOrNull(
    'Details by kind. Process data is included only for corrections by a person (`DATA_CHANGED`): names in `members`, values in `before` and ' +
      '`after`, or `omitted` instead of the values if the page has too many or they cannot be decrypted.',
    { visit: 2 },
  ),
}) {}

export class HistoryPageDto extends Answer({
  events: Shows.list(() => HistoryEventDto, 'Newest first; oldest first when `after` was given.'),
  next: Shows.numberOrNull(
    'Value of `before` (or of `after` if the request had it) for the next page; null if there are no more events.',
    null,
  ),
}) {}
