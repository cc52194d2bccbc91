/** Types of workflow nodes that a package may contain, in the order of messages. */
export const NODE_TYPES = [
  'START',
  'END',
  'CONDITION',
  'DATA_MAPPING',
  'REST_ENDPOINT',
  'DATA_SOURCE',
  'SUBWORKFLOW',
  'CUSTOM_AGENT',
] as const;

export type NodeType = (typeof NODE_TYPES)[number];

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
