import type { Provider, Type } from '@nestjs/common';
import type { Probe } from './probe.js';
import { SelfProbe } from './self.probe.js';

/** Every probe, one for each kind of component. */
const PROBE_CLASSES: readonly Type<Probe>[] = [SelfProbe];

/** Injection token of a list of all probes. */
export const PROBES = Symbol('PROBES');

/** The probes and their list, for the module. */
export const PROBE_PROVIDERS: Provider[] = [
  ...PROBE_CLASSES,
  { provide: PROBES, inject: [...PROBE_CLASSES], useFactory: (...probes: Probe[]): Probe[] => probes },
];
