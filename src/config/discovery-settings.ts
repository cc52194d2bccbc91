import { z } from 'zod';
import { integer, list, permission } from './setting-rules.js';

/** Settings of the platform rescan. */
export const discoverySettings = {
  DISCOVERY_PERMISSION: permission.describe(
    'Permission of PERMISSION_RULES that the rescan and its history ask for; any valid token without it.',
  ),
  DISCOVERY_CONFIG_FILE: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('JSON or YAML file that lists components of the platform; read anew for each scan.'),
  DISCOVERY_CONFIG_MAX_BYTES: integer(1_024, 16_777_216, 262_144).describe(
    'Largest such file, and largest file that it refers to.',
  ),
  DISCOVERY_CONCURRENCY: integer(1, 256, 16).describe('Components that one scan looks at in parallel.'),
  DISCOVERY_PROBE_TIMEOUT_MS: integer(100, 60_000, 2_000).describe(
    'Milliseconds for one component, unless its configuration says otherwise.',
  ),
  DISCOVERY_SOURCE_TIMEOUT_MS: integer(100, 60_000, 3_000).describe(
    'Milliseconds for asking one source which components there are.',
  ),
  DISCOVERY_SOURCE_MAX_BYTES: integer(16_384, 268_435_456, 8_388_608).describe(
    'Bytes of one answer of a source, such as one page of services of Kubernetes.',
  ),
  DISCOVERY_SCAN_TIMEOUT_MS: integer(1_000, 600_000, 15_000).describe(
    'Milliseconds for the probes of a scan; components not looked at by then are unhealthy.',
  ),
  DISCOVERY_REQUEST_TIMEOUT_MS: integer(1_000, 600_000, 45_000).describe(
    'Milliseconds after which a rescan is answered 500; room for the scan under way and the one after it.',
  ),
  DISCOVERY_LEASE_MS: integer(1_000, 60_000, 5_000).describe(
    'Milliseconds after which another replica may scan when the one that scans is no longer heard of.',
  ),
  DISCOVERY_SELF_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .refine((value) => !/[@?#]/.test(value), 'must have no user information, query and fragment')
    .optional()
    .describe('Address of this service as a scan shows it; http://localhost:PORT without it.'),
  DISCOVERY_MAX_COMPONENTS: integer(1, 10_000, 1_000).describe(
    'Components of one scan; further ones are an issue.',
  ),
  DISCOVERY_MAX_ANSWER_BYTES: integer(1_024, 16_777_216, 65_536).describe(
    'Bytes that a component may answer to one HTTP request of its probe.',
  ),
  DISCOVERY_MAX_DRIVER_BYTES: integer(65_536, 1_073_741_824, 8_388_608).describe(
    'Bytes that a component may send over one connection that is not HTTP; a Kafka cluster needs some 80 a partition.',
  ),
  DISCOVERY_SCANS_KEPT: integer(1, 10_000, 100).describe('Completed scans that the history keeps.'),
  DISCOVERY_CHANGES_KEPT: integer(1, 1_000_000, 10_000).describe(
    'Changes of the status of components that the history keeps.',
  ),
  DISCOVERY_PAGE_SIZE: integer(1, 100, 50).describe(
    'Scans or changes in a page of the history when the caller does not say.',
  ),
  DISCOVERY_KUBERNETES_NAMESPACES: list().describe(
    'Namespaces whose labelled services are components; * for all. Nothing is asked without it.',
  ),
  DISCOVERY_KUBERNETES_LABEL: z
    .string()
    .min(1, 'must not be empty')
    .default('svc.platform/component=true')
    .describe('Label selector of those services.'),
  DISCOVERY_KUBERNETES_ACCOUNT_DIR: z
    .string()
    .min(1, 'must not be empty')
    .default('/var/run/secrets/kubernetes.io/serviceaccount')
    .describe('Folder with token and ca.crt of the service account, as Kubernetes mounts it.'),
  DISCOVERY_DNS_DOMAINS: list().describe(
    'Domains whose SRV records _http._tcp and _https._tcp name services.',
  ),
  DISCOVERY_DNS_SERVERS: list().describe(
    'DNS servers for that, as address or address:port; those of the system without it.',
  ),
  DISCOVERY_CONSUL_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .describe('Consul agent whose catalog names services.'),
  DISCOVERY_CONSUL_TOKEN: z.string().optional().describe('Consul ACL token with service:read and node:read.'),
  DISCOVERY_CONSUL_TAG: z
    .string()
    .min(1, 'must not be empty')
    .default('svc-platform')
    .describe('Tag of the Consul services that are components; * for all services.'),
  RATE_LIMIT_DISCOVERY_PER_MINUTE: integer(0, 1_000_000, 6).describe(
    'Rescans a minute for one caller; 0 for no limit.',
  ),
};
