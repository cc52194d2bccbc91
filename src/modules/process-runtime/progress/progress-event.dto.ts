import { Shows } from '../../../common/answer-fields.decorators.js';
import type { InstanceStatus } from '../engine/state/engine.types.js';
import { ShowsInstanceState } from '../model/start.response.dto.js';
import { HistoryEventDto } from '../reading/instance-history.dto.js';
import { InstanceResponseDto } from '../reading/instance.response.dto.js';

const ID = 'Number of the event; `Last-Event-ID` of whoever goes on behind it.';

/** The first event: the instance as it stands. */
export class InstanceProgressEventDto {
  @Shows.enum('InstanceProgressEventName', ['instance'], 'Name of the event.')
  event: 'instance';

  @Shows.number(ID, 5)
  id: number;

  @Shows.part(() => InstanceResponseDto, 'The instance, as it is answered when it is read.')
  data: InstanceResponseDto;
}

export class HistoryProgressEventDto {
  @Shows.enum('HistoryProgressEventName', ['history'], 'Name of the event.')
  event: 'history';

  @Shows.number(ID, 6)
  id: number;

  @Shows.part(() => HistoryEventDto, 'The line of the audit trail.')
  data: HistoryEventDto;
}

export class InstanceEndDto {
  @Shows.uuid('The instance.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10')
  uuid: string;

  @ShowsInstanceState('How it ended.', 'FINISHED')
  state: InstanceStatus;
}

export class EndProgressEventDto {
  @Shows.enum('EndProgressEventName', ['end'], 'Name of the event.')
  event: 'end';

  @Shows.number(ID, 9)
  id: number;

  @Shows.part(() => InstanceEndDto, 'How the instance ended.')
  data: InstanceEndDto;
}
