import { z } from 'zod';
import { json, permission } from './setting-rules.js';

const NAMES = z.array(z.string().min(1)).min(1);

const SOURCES = z.strictObject({
  kubernetes: z
    .strictObject({ namespaces: NAMES, label: z.string().min(1).default('svc.platform/component=true') })
    .optional(),
  /** Without servers those of the system are asked. */
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
    'Permission of PERMISSION_RULES that the rescan and its history ask for; any valid token without it.',
  ),
  DISCOVERY_CONFIG_FILE: z
    .string()
    .min(1, 'must not be empty')
    .optional()
    .describe('JSON or YAML file that lists components of the platform; read anew for each scan.'),
  DISCOVERY_SOURCES: json(SOURCES, SHAPE)
    .default({})
    .describe(
      'JSON: what else names components: labelled services of Kubernetes, SRV records of DNS domains, tagged services of Consul, as {"kubernetes":{"namespaces":["prod"],"label":"…"},"dns":{"domains":["svc.example.com"],"servers":["10.0.0.2"]},"consul":{"url":"https://…","tokenFrom":"CONSUL_TOKEN","tag":"…"}}; "*" is all namespaces or tags, tokenFrom names the variable that holds the token of Consul.',
    ),
};
