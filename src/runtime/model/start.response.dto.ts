import { Answer, Shows, shows } from '../../platform/openapi/answer-fields.decorators.js';
import {
  type TokenStatus,
  type InstanceStatus,
  INSTANCE_STATES,
  TOKEN_STATES,
  NODE_STATES,
} from '#engine/tokens';

export const ShowsTokenState = shows<TokenStatus>({ enum: [...TOKEN_STATES], enumName: 'TokenState' });

/** Where one branch of a process instance stands. */
export class TokenDto extends Answer({
  id: Shows.number('Number of the token.', 2100001),
  uuid: Shows.uuid('Names the token in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20'),
  state: ShowsTokenState('ON_HOLD: its branches are running.', 'ACTIVE'),
  statusCurrentNode: Shows.enum('NodeState', [...NODE_STATES], 'What it does at its node.', 'ARRIVED'),
  visit: Shows.number(
    'Which visit of a node this is, counted from 1; in quotes the `If-Match` of `executeUiAction`.',
    2,
  ),
  startNodeId: Shows.numberOrNull('Node that it was made at.', 1001),
  currentNodeId: Shows.number(
    'Node that it stands on; the same number for the same node in later builds.',
    1002,
  ),
  currentNodeName: Shows.textOrNull('Name of that node.', 'Complete application'),
  dateUpdated: Shows.moment('When the token last changed.', '2026-01-31T10:20:30.123Z'),
}) {}

export const ShowsInstanceState = shows<InstanceStatus>({
  enum: [...INSTANCE_STATES],
  enumName: 'ProcessInstanceState',
});

export class InstanceMetadataDto extends Answer({
  processInstanceId: Shows.number('Number of the instance.', 3100001),
  processInstanceUuid: Shows.uuid('The same as `uuid`.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
}) {}

/** What a start answers (docs/contract.md, section 4.1). */
export class StartProcessResponseDto extends Answer({
  processDefinitionSvcUuid: Shows.value(
    'Process definition; the same in every build.',
    'c5cada5c-7901-5807-a7d4-06e549c30dd1',
  ),
  buildId: Shows.value('Build that the instance runs on to its end.'),
  buildStatusAtStart: Shows.value('Status of the build when the instance started.', 'COMMITTED'),
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  parentApplicationId: Shows.textOrNull(
    'Application of the calling process; null when nothing called it.',
    null,
  ),
  rootApplicationId: Shows.textOrNull('Application at the top of the calls.', 'sample'),
  processDefinitionName: Shows.value('Name of the process, as in the path.', 'loan_onboarding'),
  tokens: Shows.list(
    () => TokenDto,
    'Where the instance stands: its active tokens and those whose branches are running.',
  ),
  state: ShowsInstanceState('FINISHED at once when nothing in the process waits.', 'STARTED'),
  uuid: Shows.uuid('Names the instance in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
  instanceMetadata: Shows.part(() => InstanceMetadataDto, 'Number and UUID of the instance.'),
}) {}
