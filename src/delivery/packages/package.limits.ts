/** Bounds of packages, which come from outside, and of the thread that checks them. */
export const packageLimits = {
  /** Largest application package, as one JSON document. */
  bytes: 8_388_608,
  /** BPMN files of one package at the most. */
  processes: 200,
  /** Systems of one package at the most. */
  systems: 200,
  /** Workflows of one package at the most. */
  workflows: 200,
  /** Nodes of one workflow at the most. */
  workflowNodes: 500,
  /** Library builds that one package names at the most. */
  libraries: 50,
  /** Applications that one package lets use its builds as a library (usableBy) at the most. */
  libraryUsers: 500,
  /** Size of one JSON Schema in a package, as JSON. */
  schemaBytes: 65_536,
  /** Problems of one package that are told at once; the rest is left out. */
  problems: 500,
  /** Packages that wait for the thread that checks them at the most; others get 503. Each holds up to `bytes`. */
  queue: 20,
  /** Longest wait for that thread, in milliseconds; then the answer is 503. */
  waitMs: 60_000,
  /** Longest reading, and longest check, of one package in its thread, in milliseconds. */
  timeoutMs: 60_000,
  /** Heap of that thread. */
  memoryMb: 512,
  /** How far that thread stands back for callers (nice, Linux only); each delivery has a caller that waits. */
  niceness: 5,
};
