import { Module } from '@nestjs/common';

import { Env } from '../../config/env.js';
import { AddressPolicy } from './address-policy.js';
import { OutboundClient } from './outbound.client.js';

/**
 * Provides the address policy and the guarded client of this deployment to everything on the main thread that calls
 * outside parties. Needs `Env`, which the configuration module provides globally.
 */
@Module({
  providers: [
    {
      provide: AddressPolicy,
      inject: [Env],
      useFactory: (env: Env) =>
        new AddressPolicy({ allow: env.get('EGRESS_ALLOW'), allowLoopback: env.isEvaluation }),
    },
    {
      provide: OutboundClient,
      inject: [Env, AddressPolicy],
      useFactory: (env: Env, policy: AddressPolicy) =>
        new OutboundClient({
          policy,
          maxRedirects: env.get('EGRESS_MAX_REDIRECTS'),
          connectTimeoutMs: env.get('EGRESS_CONNECT_TIMEOUT_MS'),
        }),
    },
  ],
  exports: [AddressPolicy, OutboundClient],
})
export class OutboundModule {}
