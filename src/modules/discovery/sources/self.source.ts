import { Injectable } from '@nestjs/common';
import { SERVICE_NAME, SERVICE_VERSION } from '../../../common/service-version.js';
import { Env } from '../../../config/env.js';
import type { ComponentSource, SourceListing } from './component-source.js';

/** What this service can do, by the areas of its interface. */
const CAPABILITIES = [
  'application-delivery',
  'mcp-integration',
  'platform-discovery',
  'process-runtime',
  'ui-action',
  'workflows',
];

/** This service itself. */
@Injectable()
export class SelfSource implements ComponentSource {
  readonly name = 'self';
  readonly isEnabled = true;

  constructor(private readonly env: Env) {}

  async list(): Promise<SourceListing> {
    return {
      components: [
        {
          key: 'svcPlatform',
          map: 'services',
          kind: 'self',
          name: SERVICE_NAME,
          isNamed: true,
          // Equal on every replica, so that a scan by another replica is no change of the configuration.
          endpoint: this.env.get('PUBLIC_ORIGIN') ?? `http://localhost:${this.env.get('PORT')}`,
          options: {},
          credentials: null,
          source: this.name,
          tags: [],
          version: SERVICE_VERSION,
          capabilities: CAPABILITIES,
          timeoutMs: null,
          trust: 'operator',
        },
      ],
      rejected: [],
    };
  }
}
