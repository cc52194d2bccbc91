import { Injectable, type PipeTransform } from '@nestjs/common';
import { ValidationFailedError } from '../../platform/errors/request.errors.js';
import { isPlain, PLAIN_HTTP_RULE } from '../../platform/outbound/address-policy.js';
import { plainHttpOf } from '../../platform/outbound/configured-outbound.js';
import { Env } from '../../platform/config/env.js';
import { AuthorizationType } from '../model/system.types.js';
import { mcpCallLimits } from '../mcp-connection/mcp.limits.js';

const TOKEN_URL = 'authorization.configuration.identityProviderUrl';

/** Members of a validated request that a deployment limits. */
interface SentLimits {
  baseUrl?: string;
  authorization?: { type?: AuthorizationType; configuration?: { identityProviderUrl?: string } };
  timeoutMs?: number | null;
}

/** Rejects addresses that the service never calls (`OUTBOUND_HTTP`) and timeouts above `maxTimeoutMs`. Stored values are not checked: a stored address fails when it is called, and a stored timeout is capped. */
@Injectable()
export class DeploymentLimitsPipe implements PipeTransform<SentLimits | { payload: SentLimits }> {
  constructor(private readonly env: Env) {}

  /** @throws ValidationFailedError */
  transform<Body extends SentLimits | { payload: SentLimits }>(body: Body): Body {
    const [prefix, limited] = 'payload' in body ? ['payload.', body.payload] : ['', body];
    const { type, configuration } = limited.authorization ?? {};
    const sent = {
      baseUrl: limited.baseUrl,
      // The configuration of NO_AUTH is neither validated nor stored.
      ...(type === AuthorizationType.NoAuth ? {} : { [TOKEN_URL]: configuration?.identityProviderUrl }),
    };
    const problems = Object.entries(sent)
      .filter(([, url]) => url !== undefined && isPlain(new URL(url), plainHttpOf(this.env)))
      .map(([field]) => ({ field: `${prefix}${field}`, rule: PLAIN_HTTP_RULE }));
    const maxMs = mcpCallLimits.maxTimeoutMs;
    if ((limited.timeoutMs ?? 0) > maxMs) {
      problems.push({ field: `${prefix}timeoutMs`, rule: `must be at most ${maxMs}` });
    }
    if (problems.length > 0) {
      throw new ValidationFailedError(problems);
    }
    return body;
  }
}
