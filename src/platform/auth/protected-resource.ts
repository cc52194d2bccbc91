import type { Request } from 'express';
import type { Env } from '../config/env.js';
import { ForbiddenError, UnauthorizedError } from '../errors/domain.error.js';
import { PermissionDeniedError } from './auth.errors.js';

/** Path of the metadata of protected resources, followed by the path of the resource (RFC 9728, section 3.1). */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';
/** MCP endpoints: clients find the token issuer of each by its metadata (MCP 2025-11-25, Authorization). */
const RESOURCES = /^\/mcp\//;

/** Returns the address of a path of this service as callers know it. */
export function publicUrl(env: Env, request: Request, path: string): string {
  return `${env.get('PUBLIC_ORIGIN') ?? `${request.protocol}://${request.get('host') ?? ''}`}${path}`;
}

/** Returns the OAuth scopes that grant a permission. */
export function scopesOf(env: Env, permission: string): string[] {
  const rules = env.get('PERMISSION_RULES')[permission] ?? [];
  return rules.flatMap((rule) =>
    'claim' in rule && rule.claim === 'scope' && 'has' in rule ? rule.has : [],
  );
}

/** Returns the WWW-Authenticate header of a response (RFC 6750, section 3; RFC 9728, section 5.1); undefined for none. */
export function challengeOf(error: unknown, env: Env, request: Request): string | undefined {
  const isResource = RESOURCES.test(request.path);
  if (error instanceof UnauthorizedError) {
    return isResource ? withMetadata(error.challenge, env, request) : error.challenge;
  }
  if (!isResource || !(error instanceof ForbiddenError)) {
    return undefined;
  }
  const scopes = error instanceof PermissionDeniedError ? scopesOf(env, error.permission) : [];
  const scope = scopes.length > 0 ? `, scope="${scopes.join(' ')}"` : '';
  return withMetadata(`Bearer error="insufficient_scope"${scope}`, env, request);
}

function withMetadata(challenge: string, env: Env, request: Request): string {
  const url = publicUrl(env, request, `${METADATA_PATH}${request.path}`);
  return `${challenge}${challenge.includes('=') ? ',' : ''} resource_metadata="${url}"`;
}
