/** Limits of calls to outside parties. */
export const outboundLimits = {
  /** Same-origin redirects followed per request. */
  maxRedirects: 2,
  /** Milliseconds to open a connection to an outside party. */
  connectTimeoutMs: 5_000,
  /** Heap of the worker thread that opens TLS connections for REST systems, token endpoints, the model and probes of systems. */
  threadMemoryMb: 64,
  /** Maximum number of concurrent calls over such connections. */
  threadCalls: 500,
  /** Niceness of threads that talk to outside parties, so that callers of the service go first (Linux only). */
  threadNiceness: 19,
};
