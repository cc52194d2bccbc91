export { NODE_TYPES, type NodeType } from '../schema/node-types.js';

/** Types of workflow nodes that this release runs; `NodeExecutorsService` has one executor for each. */
export const EXECUTED_NODE_TYPES = [
  'START',
  'CONDITION',
  'DATA_MAPPING',
  'SUBWORKFLOW',
  'CUSTOM_AGENT',
  'REST_ENDPOINT',
  'END',
] as const;

export type ExecutedNodeType = (typeof EXECUTED_NODE_TYPES)[number];
