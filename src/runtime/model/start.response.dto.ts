import { Answer, Shows, shows } from '../../platform/openapi/answer-fields.decorators.js';
import {
  type TokenStatus,
  type InstanceStatus,
  INSTANCE_STATES,
  TOKEN_STATES,
  NODE_STATES,
} from '#engine/tokens';

export const ShowsTokenState = shows<TokenStatus>({ enum: [...TOKEN_STATES], enumName: 'TokenState' });

/** Position of one branch of a process instance. */
export class TokenDto extends Answer({
  id: Shows.number('Number of the token.', 2100001),
  uuid: Shows.uuid('Id of the token in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20'),
  state: ShowsTokenState('ON_HOLD: its branches are running.', 'ACTIVE'),
  statusCurrentNode: Shows.enum('NodeState', [...NODE_STATES], 'State of the token at its node.', 'ARRIVED'),
  visit: Shows.number(
    'Number of the visit, from 1. In quotes, the `If-Match` header of `executeUiAction`.',
    2,
  ),
  startNodeId: Shows.numberOrNull('Node where the token was created.', 1001),
  currentNodeId: Shows.number('Current node; the number of a node stays the same in later builds.', 1002),
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

/** Response to a start (docs/contract.md, section 4.1). */
export class StartProcessResponseDto extends Answer({
  processDefinitionSvcUuid: Shows.value(
    'Id of the process definition; the same in every build.',
    'c5cada5c-7901-5807-a7d4-06e549c30dd1',
  ),
  buildId: Shows.value('Build that the instance uses until it ends.'),
  buildStatusAtStart: Shows.value('Status of the build when the instance started.', 'COMMITTED'),
  applicationId: Shows.value('Application that the process belongs to.', 'sample'),
  parentApplicationId: Shows.textOrNull(
    'Application of the calling process; null if the instance was not called.',
    null,
  ),
  rootApplicationId: Shows.textOrNull('Application of the first caller in the call chain.', 'sample'),
  processDefinitionName: Shows.value('Name of the process, as in the path.', 'loan_onboarding'),
  tokens: Shows.list(() => TokenDto, 'Active tokens, and tokens whose branches are running.'),
  state: ShowsInstanceState('FINISHED if nothing in the process had to wait.', 'STARTED'),
  uuid: Shows.uuid('Id of the instance in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10'),
  instanceMetadata: Shows.part(() => InstanceMetadataDto, 'Number and UUID of the instance.'),
}) {}
