import { shows, Shows } from '../../../common/answer-fields.decorators.js';
import {
  type NodeStatus,
  type TokenStatus,
  type InstanceStatus,
  INSTANCE_STATES,
  TOKEN_STATES,
  NODE_STATES,
} from '../engine/state/engine.types.js';

export const ShowsTokenState = shows({ enum: [...TOKEN_STATES], enumName: 'TokenState' });

/** Where one branch of a process instance stands. */
export class TokenDto {
  @Shows.number('Number of the token.', 2100001)
  id: number;

  @Shows.uuid('Names the token in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20')
  uuid: string;

  @ShowsTokenState('ON_HOLD: its branches are running.', 'ACTIVE')
  state: TokenStatus;

  @Shows.enum('NodeState', [...NODE_STATES], 'What it does at its node.', 'ARRIVED')
  statusCurrentNode: NodeStatus;

  @Shows.number(
    'Which visit of a node this is, counted from 1; in quotes the `If-Match` of `executeUiAction`.',
    2,
  )
  visit: number;

  @Shows.numberOrNull('Node that it was made at.', 1001)
  startNodeId: number | null;

  @Shows.number('Node that it stands on; the same number for the same node in later builds.', 1002)
  currentNodeId: number;

  @Shows.textOrNull('Name of that node.', 'Complete application')
  currentNodeName: string | null;

  @Shows.moment('When the token last changed.', '2026-01-31T10:20:30.123Z')
  dateUpdated: string;
}

export const ShowsInstanceState = shows({ enum: [...INSTANCE_STATES], enumName: 'ProcessInstanceState' });

export class InstanceMetadataDto {
  @Shows.number('Number of the instance.', 3100001)
  processInstanceId: number;

  @Shows.uuid('The same as `uuid`.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10')
  processInstanceUuid: string;
}

/** What a start answers (docs/contract.md, section 4.1). */
export class StartProcessResponseDto {
  @Shows.value('Process definition; the same in every build.', 'c5cada5c-7901-5807-a7d4-06e549c30dd1')
  processDefinitionSvcUuid: string;

  @Shows.value('Build that the instance runs on to its end.')
  buildId: string;

  @Shows.value('Status of the build when the instance started.', 'COMMITTED')
  buildStatusAtStart: string;

  @Shows.value('Application that the process belongs to.', 'sample')
  applicationId: string;

  @Shows.textOrNull('Application of the calling process; null when nothing called it.', null)
  parentApplicationId: string | null;

  @Shows.textOrNull('Application at the top of the calls.', 'sample')
  rootApplicationId: string | null;

  @Shows.value('Name of the process, as in the path.', 'loan_onboarding')
  processDefinitionName: string;

  @Shows.list(
    () => TokenDto,
    'Where the instance stands: its active tokens and those whose branches are running.',
  )
  tokens: TokenDto[];

  @ShowsInstanceState('FINISHED at once when nothing in the process waits.', 'STARTED')
  state: InstanceStatus;

  @Shows.uuid('Names the instance in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10')
  uuid: string;

  @Shows.part(() => InstanceMetadataDto, 'Number and UUID of the instance.')
  instanceMetadata: InstanceMetadataDto;
}
