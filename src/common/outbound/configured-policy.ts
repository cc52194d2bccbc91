import { EnvError, type Env } from '../../config/env.js';
import { AddressPolicy, type AddressPolicyOptions } from './address-policy.js';

/**
 * What this deployment lets the service call, checked, so that a wrong list stops the start and not the first call.
 * @throws EnvError when `EGRESS_ALLOW` cannot be read
 */
export function configuredPolicy(env: Env): AddressPolicyOptions {
  const policy = { allow: env.get('EGRESS_ALLOW'), allowLoopback: env.isEvaluation };
  try {
    void new AddressPolicy(policy);
    return policy;
  } catch {
    throw new EnvError([
      'EGRESS_ALLOW must list CIDRs, addresses or host names, each with an optional :port',
    ]);
  }
}
