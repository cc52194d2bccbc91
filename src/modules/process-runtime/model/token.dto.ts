import { shows, Shows } from '../../../common/answer-fields.decorators.js';
import type { NodeStatus, TokenStatus } from '../engine/state/engine.types.js';

/** States of a token (docs/process-semantics.md, section 4). */
export const TOKEN_STATES: TokenStatus[] = [
  'ACTIVE',
  'INACTIVE',
  'ABORTED',
  'ON_HOLD',
  'DISMISSED',
  'EXPIRED',
  'TERMINATED',
];
/** A member that is the state of a token. */
export const ShowsTokenState = shows({ enum: TOKEN_STATES, enumName: 'TokenState' });

const NODE_STATES: NodeStatus[] = [
  'ARRIVED',
  'EXECUTING',
  'EXECUTED_COMPLETE',
  'EXECUTED_PARTIAL',
  'WAITING_MESSAGE_EVENT',
  'WAITING_TIMER_EVENT',
  'WAITING_MESSAGE',
  'MESSAGE_RECEIVED',
  'MESSAGE_RESPONSE_TIMED_OUT',
];

/** Where one branch of a process instance stands. */
export class TokenDto {
  @Shows.number('Number of the token.', 2100001)
  id: number;

  @Shows.uuid('Names the token in paths.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20')
  uuid: string;

  @ShowsTokenState('ON_HOLD: its branches are running.', 'ACTIVE')
  state: TokenStatus;

  @Shows.enum('NodeState', NODE_STATES, 'What it does at its node.', 'ARRIVED')
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
