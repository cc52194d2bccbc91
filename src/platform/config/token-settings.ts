import { z } from 'zod';
import { hasNoCredentials, httpUrl, list } from './setting-rules.js';

const CLAIM = /^[^=\s]{1,128}=\S{1,255}$/;

/** Settings of bearer tokens beyond signature, issuer and audience (docs/operations.md, "Bearer tokens"). */
export const tokenSettings = {
  OIDC_REQUIRED_CLAIMS: list()
    .refine((items) => items.every((item) => CLAIM.test(item)), 'must list name=value, comma-separated')
    .describe(
      'Claims that a token must have: name=value, comma-separated. For example azp=front-end accepts only tokens of that client (claim azp, client_id, cid or appid). Repeat a name to accept several values.',
    ),
  OIDC_INTROSPECTION_URL: httpUrl
    .refine(hasNoCredentials, 'must hold no credentials')
    .optional()
    .describe(
      'Introspection endpoint of the issuer (RFC 7662), called to check that tokens are still active; https unless on this machine. Without it, tokens are not introspected.',
    ),
  OIDC_INTROSPECTION_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe('Client id for the introspection endpoint (HTTP Basic).'),
  OIDC_INTROSPECTION_CLIENT_SECRET: z
    .string()
    .min(1)
    .optional()
    .describe('Secret. Client secret for the introspection endpoint.'),
};

/** Returns the problems in the combination of introspection settings. */
export function introspectionProblems(present: Readonly<Record<string, unknown>>): string[] {
  const has = (name: string): boolean => present[`OIDC_INTROSPECTION_${name}`] !== undefined;
  const isClient = has('CLIENT_ID') && has('CLIENT_SECRET');
  if (has('URL')) {
    return isClient
      ? []
      : ['OIDC_INTROSPECTION_URL needs OIDC_INTROSPECTION_CLIENT_ID and OIDC_INTROSPECTION_CLIENT_SECRET'];
  }
  return ['CLIENT_ID', 'CLIENT_SECRET']
    .filter(has)
    .map((name) => `OIDC_INTROSPECTION_${name} needs OIDC_INTROSPECTION_URL`);
}
