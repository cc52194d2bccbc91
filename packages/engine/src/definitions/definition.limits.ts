/** Bounds of process definitions, which come from outside. */
export const definitionLimits = {
  /** Largest BPMN file. */
  xmlBytes: 1_048_576,
  /** Events, activities and gateways of one process. */
  nodes: 2_000,
  /** Levels of one process, embedded subprocesses included. */
  nesting: 20,
};
