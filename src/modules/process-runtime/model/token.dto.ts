import { ApiProperty } from '@nestjs/swagger';
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
  @ApiProperty({ type: 'integer', description: 'Number of the token.', example: 2100001 })
  id: number;

  @ApiProperty({
    format: 'uuid',
    description: 'Names the token in paths.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  })
  uuid: string;

  @ApiProperty({
    enum: TOKEN_STATES,
    enumName: 'TokenState',
    description: 'ON_HOLD: its branches are running.',
    example: 'ACTIVE',
  })
  state: TokenStatus;

  @ApiProperty({
    enum: NODE_STATES,
    enumName: 'NodeState',
    description: 'What it does at its node.',
    example: 'ARRIVED',
  })
  statusCurrentNode: NodeStatus;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Node that it was made at.',
    example: 1001,
  })
  startNodeId: number | null;

  @ApiProperty({
    type: 'integer',
    description: 'Node that it stands on; the same number for the same node in later builds.',
    example: 1002,
  })
  currentNodeId: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of that node.',
    example: 'Complete application',
  })
  currentNodeName: string | null;

  @ApiProperty({
    format: 'date-time',
    description: 'When the token last changed.',
    example: '2026-01-31T10:20:30.123Z',
  })
  dateUpdated: string;
}
