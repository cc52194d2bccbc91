import { z } from 'zod';
import { json, permission } from './setting-rules.js';

const NAMES = z.array(z.string().min(1)).min(1);

const SOURCES = z.strictObject({
  kubernetes: z
    .strictObject({ namespaces: NAMES, label: z.string().min(1).default('svc.platform/component=true') })
    .optional(),
  /** `servers` defaults to the DNS servers of the operating system. */
  dns: z.strictObject({ domains: NAMES, servers: NAMES.optional() }).optional(),
  consul: z
    .strictObject({
      url: z.url({ protocol: /^https?$/ }),
      /** Variable that holds the ACL token, with service:read and node:read. */
      tokenFrom: z.string().min(1).optional(),
      tag: z.string().min(1).default('svc-platform'),
    })
    .optional(),
});
const SHAPE =
  'must have kubernetes { namespaces, label }, dns { domains, servers } or consul { url, tokenFrom, tag }';

export const discoverySettings = {
  DISCOVERY_PERMISSION: permission.describe(
    'Permission of PERMISSION_RULES that is required for the rescan and its history. Without it, any valid token suffices.',
  ),
  DISCOVERY_CONFIG_FILE: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('JSON or YAML file that lists components of the platform. Read again for each scan.'),
  DISCOVERY_SOURCES: json(SOURCES, SHAPE)
    .default({})
    .describe(
      'JSON: further sources of components: labelled services of Kubernetes, SRV records of DNS domains, tagged services of Consul, as {"kubernetes":{"namespaces":["prod"],"label":"…"},"dns":{"domains":["svc.example.com"],"servers":["10.0.0.2"]},"consul":{"url":"https://…","tokenFrom":"CONSUL_TOKEN","tag":"…"}}; "*" means all namespaces or tags; tokenFrom names the variable that holds the Consul token.',
    ),
};
