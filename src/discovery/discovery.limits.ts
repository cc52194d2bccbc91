/** Limits of platform scans and their history. */
export const discoveryLimits = {
  /** Maximum size of the configuration file, and of each file that it refers to. */
  configBytes: 262_144,
  /** Maximum number of components that a scan checks concurrently. */
  concurrency: 16,
  /** Timeout for a component in milliseconds, unless its configuration sets another. */
  probeTimeoutMs: 2_000,
  /** Timeout for listing the components of a source, in milliseconds. */
  sourceTimeoutMs: 3_000,
  /** Maximum size of a response of a source, such as a page of Kubernetes services. */
  sourceBytes: 8_388_608,
  /** Time for all probes of a scan in milliseconds; components not checked by then are unhealthy. */
  scanTimeoutMs: 15_000,
  /** Time after which a rescan request gets 500, in milliseconds; long enough for the running scan and the next one. */
  requestTimeoutMs: 45_000,
  /** Time after which another replica may take over from one that has stopped responding, in milliseconds. */
  leaseMs: 5_000,
  /** Maximum number of components per scan; further ones are reported as an issue. */
  components: 1_000,
  /** Maximum size of a response to an HTTP request of a probe. */
  answerBytes: 65_536,
  /** Maximum number of bytes received over a connection other than HTTP; a Kafka cluster sends about 80 per partition. */
  driverBytes: 8_388_608,
  /** Number of completed scans kept in the history. */
  scansKept: 100,
  /** Number of component changes kept in the history. */
  changesKept: 10_000,
  /** Folder with token and ca.crt of the service account, as Kubernetes mounts it. */
  kubernetesAccountDir: '/var/run/secrets/kubernetes.io/serviceaccount',
};
