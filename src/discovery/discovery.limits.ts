/** Bounds of scans of the platform and of their history. */
export const discoveryLimits = {
  /** Largest such file, and largest file that it refers to. */
  configBytes: 262_144,
  /** Components that one scan looks at in parallel. */
  concurrency: 16,
  /** Milliseconds for one component, unless its configuration says otherwise. */
  probeTimeoutMs: 2_000,
  /** Milliseconds for asking one source which components there are. */
  sourceTimeoutMs: 3_000,
  /** Bytes of one answer of a source, such as one page of services of Kubernetes. */
  sourceBytes: 8_388_608,
  /** Milliseconds for the probes of a scan; components not looked at by then are unhealthy. */
  scanTimeoutMs: 15_000,
  /** Milliseconds after which a rescan is answered 500; room for the scan under way and the one after it. */
  requestTimeoutMs: 45_000,
  /** Milliseconds after which another replica may scan when the one that scans is no longer heard of. */
  leaseMs: 5_000,
  /** Components of one scan; further ones are an issue. */
  components: 1_000,
  /** Bytes that a component may answer to one HTTP request of its probe. */
  answerBytes: 65_536,
  /** Bytes that a component may send over one connection that is not HTTP; a Kafka cluster needs some 80 a partition. */
  driverBytes: 8_388_608,
  /** Completed scans that the history keeps. */
  scansKept: 100,
  /** Changes of the status of components that the history keeps. */
  changesKept: 10_000,
  /** Folder with token and ca.crt of the service account, as Kubernetes mounts it. */
  kubernetesAccountDir: '/var/run/secrets/kubernetes.io/serviceaccount',
};
