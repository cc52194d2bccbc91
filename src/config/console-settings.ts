import { z } from 'zod';
import { flag } from './setting-rules.js';

/** Settings of the console in the browser (docs/console.md). */
export const consoleSettings = {
  CONSOLE: flag(true).describe(
    'Whether the console is served at /console, and browsers are led there from /.',
  ),
  CONSOLE_OIDC_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Public client of OIDC_ISSUER with which people sign in at the console, by authorization code and PKCE; nobody can sign in there without it.',
    ),
  CONSOLE_OIDC_SCOPE: z
    .string()
    .regex(
      /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/,
      'must be scopes with one space between them',
    )
    .refine((text) => text.split(' ').includes('openid'), 'must have the scope openid')
    .default('openid profile')
    .describe(
      'Scopes that the console asks for, with spaces between them; the access token must be one for OIDC_AUDIENCE.',
    ),
};
