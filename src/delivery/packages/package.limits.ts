/** Limits of packages, which are untrusted, and of the thread that checks them. */
export const packageLimits = {
  /** Maximum bytes of an application package as one JSON document: 8 MiB. */
  bytes: 8_388_608,
  /** Maximum number of BPMN files per package. */
  processes: 200,
  /** Maximum number of systems per package. */
  systems: 200,
  /** Maximum number of workflows per package. */
  workflows: 200,
  /** Maximum number of nodes per workflow. */
  workflowNodes: 500,
  /** Maximum number of library builds that a package names. */
  libraries: 50,
  /** Maximum number of applications that may use builds of a package as a library (usableBy). */
  libraryUsers: 500,
  /** Maximum bytes of a JSON Schema in a package, as JSON. */
  schemaBytes: 65_536,
  /** Maximum number of problems reported per package. */
  problems: 500,
  /** Maximum number of packages that wait for the thread; further ones get 503. Each takes up to `bytes` of memory. */
  queue: 20,
  /** Maximum wait for the thread before the request gets 503, in milliseconds. */
  waitMs: 60_000,
  /** Maximum time to read, and to check, a package in the thread, in milliseconds. */
  timeoutMs: 60_000,
  /** Heap size of the thread, in MiB. */
  memoryMb: 512,
  /** Scheduling priority of the thread (nice, Linux only). Moderate, since a caller waits for each delivery. */
  niceness: 5,
};
