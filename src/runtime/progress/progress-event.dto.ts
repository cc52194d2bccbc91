import { Answer, Shows } from '../../platform/openapi/answer-fields.decorators.js';
import { ShowsInstanceState } from '../model/start.response.dto.js';
import { HistoryEventDto } from '../reading/instance-history.dto.js';
import { InstanceResponseDto } from '../reading/instance.response.dto.js';

const ID = 'Number of the event, for `Last-Event-ID` when a client resumes.';

/** First event: the current state of the instance. */
export class InstanceProgressEventDto extends Answer({
  event: Shows.enum('InstanceProgressEventName', ['instance'], 'Name of the event.'),
  id: Shows.number(ID, 5),
  data: Shows.part(() => InstanceResponseDto, 'The instance, as in `getProcessInstance`.'),
}) {}

export class HistoryProgressEventDto extends Answer({
  event: Shows.enum('HistoryProgressEventName', ['history'], 'Name of the event.'),
  id: Shows.number(ID, 6),
  data: Shows.part(() => HistoryEventDto, 'The event of the audit trail.'),
}) {}

export class InstanceEndDto extends Answer({
  uuid: Shows.uuid('The instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
  state: ShowsInstanceState('How it ended.', 'FINISHED'),
}) {}

export class EndProgressEventDto extends Answer({
  event: Shows.enum('EndProgressEventName', ['end'], 'Name of the event.'),
  id: Shows.number(ID, 9),
  data: Shows.part(() => InstanceEndDto, 'How the instance ended.'),
}) {}
