/** Types of workflow nodes that a package may have, in the order in which they are told. */
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
