import { Answer, AnswerWith, Shows } from '../../platform/openapi/answer-fields.decorators.js';
import type { ProcessEventKind } from '../model/process-runtime.types.js';
import { ENGINE_EVENT_KINDS } from '#engine/tokens';

/** The node that something is about. */
export class InstanceNodeDto extends Answer({
  nodeId: Shows.numberOrNull(
    'Node that it is about, the same number for the same node in later builds; null for none.',
    1002,
  ),
  nodeName: Shows.textOrNull('Name of that node.', 'Complete application'),
  bpmnElementId: Shows.textOrNull('Id of the element in the BPMN file.', 'complete_application'),
}) {}

const EVENT_KINDS: ProcessEventKind[] = [...ENGINE_EVENT_KINDS, 'INCIDENT_RAISED', 'INCIDENT_CLOSED'];

/** One line of the audit trail of an instance. */
export class HistoryEventDto extends AnswerWith(InstanceNodeDto, {
  seq: Shows.number('Number of the event: from 1 and without gaps.', 3),
  kind: Shows.enum('ProcessEventKind', EVENT_KINDS, 'What happened.', 'NODE_ENTERED'),
  timestamp: Shows.moment('When it happened.', '2026-01-31T10:20:30.123Z'),
  actor: Shows.textOrNull('User name of who caused it; null for background work.', 'jane.doe'),
  requestId: Shows.textOrNull(
    'Request that caused it; leads to the log.',
    '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
  ),
  tokenUuid: Shows.uuidOrNull(
    'Token that it happened to; null when it is about the whole instance.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  ),
  data: Shows.objectOrNull(
    'What else the kind tells of. No process data but those that a person corrected (`DATA_CHANGED`): `members` are their names, `before` and ' +
      '`after` their values, in place of which there is `omitted` where a page has too many, or they cannot be opened.',
    { visit: 2 },
  ),
}) {}

export class HistoryPageDto extends Answer({
  events: Shows.list(() => HistoryEventDto, 'Newest first; oldest first when `after` was given.'),
  next: Shows.numberOrNull(
    'Give it as `before`, or as `after` where that was given, to read on; null when there are no more.',
    null,
  ),
}) {}
