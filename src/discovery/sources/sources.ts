import type { FactoryProvider } from '@nestjs/common';
import type { ComponentSource } from './listing.js';
import { ConfigurationSource } from './configuration.source.js';
import { ConsulSource } from './consul.source.js';
import { DnsSource } from './dns.source.js';
import { EnvironmentSource } from './environment.source.js';
import { KubernetesSource } from './kubernetes.source.js';
import { RegisteredSource } from './registered.source.js';
import { SERVICE_NAME, SERVICE_VERSION } from '../../platform/service-version.js';
import { Log } from '../../platform/observability/logging/log.js';
import { SystemsService } from '../../systems/registration/systems.service.js';
import { Env } from '../../platform/config/env.js';
import { componentOf } from '../model/component.types.js';

/** Capabilities of this service, by area of its API. */
const CAPABILITIES = [
  'application-delivery',
  'mcp-integration',
  'platform-discovery',
  'process-runtime',
  'ui-action',
  'workflows',
];

/** Returns a source with this service itself. */
function selfSource(env: Env): ComponentSource {
  const self = componentOf('self', {
    key: 'svcPlatform',
    name: SERVICE_NAME,
    // The same on every replica, so that a scan by another replica detects no configuration change.
    endpoint: env.get('PUBLIC_ORIGIN') ?? `http://localhost:${env.get('PORT')}`,
    source: 'self',
    version: SERVICE_VERSION,
    capabilities: CAPABILITIES,
    trust: 'operator',
  });
  return { name: 'self', list: async () => ({ components: [self], rejected: [] }) };
}

/** Injection token of the list of all sources. */
export const SOURCES = Symbol('SOURCES');

/** Provides every configured source, in the order of COMPONENT_SOURCES: a later one wins on a key. */
export const SOURCES_PROVIDER: FactoryProvider<ComponentSource[]> = {
  provide: SOURCES,
  inject: [Env, Log, SystemsService],
  useFactory: (env: Env, log: Log, systems: SystemsService) => {
    const { kubernetes, dns, consul } = env.get('DISCOVERY_SOURCES');
    const configuration =
      env.get('DISCOVERY_CONFIG_FILE') === undefined ? undefined : new ConfigurationSource(env, log);
    void configuration?.logMistakes();
    const sources = [
      selfSource(env),
      configuration,
      new EnvironmentSource(env),
      kubernetes && new KubernetesSource(env, kubernetes),
      dns && new DnsSource(dns),
      consul && new ConsulSource(env, consul),
      new RegisteredSource(env, systems),
    ];
    return sources.filter((source) => source !== undefined);
  },
};
