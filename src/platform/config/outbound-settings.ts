import { z } from 'zod';
import { list } from './setting-rules.js';
import { decoded } from './url-credentials.js';

/** Settings of outbound calls that say which way they take. */
export const outboundSettings = {
  OUTBOUND_HTTP: z
    .enum(['refuse', 'loopback', 'allow'], 'must be refuse, loopback or allow')
    .optional()
    .describe(
      'Plain http to systems and token endpoints: refuse, loopback (this machine alone) or allow. Without it production refuses, evaluation allows.',
    ),
  OUTBOUND_PROXY: z
    .string()
    .refine(
      isProxyUrl,
      'must be http://host:port or https://host:port, with user:password@ (percent-encoded) where the proxy asks for it',
    )
    .optional()
    .describe(
      'Proxy that all guarded outbound calls go through, by HTTP CONNECT. Its credentials are a secret.',
    ),
  OUTBOUND_NO_PROXY: list(['localhost', '127.0.0.0/8', '::1']).describe(
    'Targets that are called directly: host name, .suffix, address or CIDR, each with optional :port.',
  ),
  OUTBOUND_PROXY_TARGET: z
    .enum(['address', 'name'], 'must be address or name')
    .default('address')
    .describe(
      'What the proxy is asked for: the address that was judged here, or the host name, which it resolves by itself (docs/security.md).',
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
