import { z } from 'zod';
import { list } from './setting-rules.js';
import { decoded } from './url-credentials.js';

/** Settings for the route of outbound calls. */
export const outboundSettings = {
  OUTBOUND_HTTP: z
    .enum(['refuse', 'loopback', 'allow'], 'must be refuse, loopback or allow')
    .optional()
    .describe(
      'Plain http to systems and token endpoints: refuse, loopback (only this machine) or allow. Default: refuse in production, allow in evaluation mode.',
    ),
  OUTBOUND_PROXY: z
    .string()
    .refine(
      isProxyUrl,
      'must be http://host:port or https://host:port, with user:password@ (percent-encoded) if the proxy requires it',
    )
    .optional()
    .describe('Proxy of all guarded outbound calls (HTTP CONNECT). Its credentials are a secret.'),
  OUTBOUND_NO_PROXY: list(['localhost', '127.0.0.0/8', '::1']).describe(
    'Targets that are called without the proxy: host name, .suffix, address or CIDR, each with optional :port.',
  ),
  OUTBOUND_PROXY_TARGET: z
    .enum(['address', 'name'], 'must be address or name')
    .default('address')
    .describe(
      'Target that the proxy gets: the address that was checked here, or the host name, which the proxy resolves itself (docs/security.md).',
    ),
};

function isProxyUrl(value: string): boolean {
  if (!/^https?:\/\/[^/]/i.test(value) || !URL.canParse(value)) {
    return false;
  }
  const { pathname, search, hash, username, password } = new URL(value);
  const isEncoded = decoded(username) !== null && decoded(password) !== null;
  return pathname === '/' && search === '' && hash === '' && isEncoded;
}
