import type { Provider, Type } from '@nestjs/common';
import type { ComponentSource } from './component-source.js';
import { ConfigurationSource } from './configuration.source.js';
import { ConsulSource } from './consul.source.js';
import { DnsSource } from './dns.source.js';
import { EnvironmentSource } from './environment.source.js';
import { KubernetesSource } from './kubernetes.source.js';
import { RegisteredSource } from './registered.source.js';
import { SelfSource } from './self.source.js';

/** Every source, in the order of COMPONENT_SOURCES: a later one wins on a key. */
const SOURCE_CLASSES: readonly Type<ComponentSource>[] = [
  SelfSource,
  ConfigurationSource,
  EnvironmentSource,
  KubernetesSource,
  DnsSource,
  ConsulSource,
  RegisteredSource,
];

/** Injection token of a list of all sources. */
export const SOURCES = Symbol('SOURCES');

/** The sources and their list, for the module. */
export const SOURCE_PROVIDERS: Provider[] = [
  ...SOURCE_CLASSES,
  {
    provide: SOURCES,
    inject: [...SOURCE_CLASSES],
    useFactory: (...sources: ComponentSource[]): ComponentSource[] => sources,
  },
];
