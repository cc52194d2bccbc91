import { z } from 'zod';
import { holdsNoCredentials, httpUrl, list } from './setting-rules.js';

const CLAIM = /^[^=\s]{1,128}=\S{1,255}$/;

/** Demands on bearer tokens beyond signature, issuer and audience (docs/operations.md, "Bearer tokens"). */
export const tokenSettings = {
  OIDC_REQUIRED_CLAIMS: list()
    .refine((items) => items.every((item) => CLAIM.test(item)), 'must list name=value, comma-separated')
    .describe(
      'Claims that a token must have, name=value, comma-separated, such as azp=front-end for the clients (azp, client_id, cid or appid) whose tokens are taken; a name given again permits another value.',
    ),
  OIDC_INTROSPECTION_URL: httpUrl
    .refine(holdsNoCredentials, 'must hold no credentials')
    .optional()
    .describe(
      'Introspection endpoint of the issuer (RFC 7662), which is asked whether a token is still active; https unless on this machine. Not asked without it.',
    ),
  OIDC_INTROSPECTION_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe('Client that asks the introspection endpoint, by HTTP Basic.'),
  OIDC_INTROSPECTION_CLIENT_SECRET: z.string().min(1).optional().describe('Secret of this client.'),
};

/** What is wrong with the settings of the introspection endpoint together. */
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
