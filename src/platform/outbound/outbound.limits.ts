/** Bounds of calls to outside parties. */
export const outboundLimits = {
  /** Same-origin redirects followed per request. */
  maxRedirects: 2,
  /** Milliseconds to open a connection to an outside party. */
  connectTimeoutMs: 5_000,
  /** Heap of the worker thread that opens connections over TLS for REST systems, token endpoints, the model and probes of systems. */
  threadMemoryMb: 64,
  /** Calls over such connections under way at the most. */
  threadCalls: 500,
  /** How far threads that talk to outside parties stand back for callers (nice, Linux only). */
  threadNiceness: 19,
};
