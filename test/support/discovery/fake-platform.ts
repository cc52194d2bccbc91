import type { NestExpressApplication } from '@nestjs/platform-express';
import { type Component, componentOf } from '../../../src/modules/discovery/model/component.types.js';
import { Probes } from '../../../src/modules/discovery/probes/kinds/probes.js';
import { ProbeError } from '../../../src/modules/discovery/model/failures.js';
import type { ProbeContext, ProbeFinding } from '../../../src/modules/discovery/model/probe.js';
import type { ComponentSource, SourceListing } from '../../../src/modules/discovery/sources/listing.js';
import { SOURCES } from '../../../src/modules/discovery/sources/sources.js';

/** What happens when a component is checked. */
export type Behaviour = (context: ProbeContext, component: Component) => Promise<ProbeFinding>;

/** A component of kind http, which fake platforms check. */
export function component(key: string, overrides: Partial<Component> = {}): Component {
  const endpoint = `http://${key.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}.example.com`;
  const named = { key, name: key, endpoint, source: 'configuration', trust: 'operator' } as const;
  return componentOf('http', { ...named, ...overrides });
}

export const healthy =
  (finding: ProbeFinding = {}): Behaviour =>
  async () =>
    finding;
export const refused: Behaviour = async () => {
  throw new ProbeError('refused');
};
export const after =
  (ms: number, finding: ProbeFinding = {}): Behaviour =>
  () =>
    new Promise((resolve) => {
      setTimeout(() => resolve(finding), ms);
    });
export const never: Behaviour = () => new Promise(() => undefined);

/** A source and the probe of its components, which live in memory. */
export class FakePlatform implements ComponentSource {
  readonly name = 'configuration';
  components: Component[] = [];
  /** By key; healthy without one. */
  readonly behaviours = new Map<string, Behaviour>();
  scans = 0;
  checks = 0;

  /** Lets an application know of itself and of this platform, and of nothing else. */
  static in(nest: NestExpressApplication): FakePlatform {
    const platform = new FakePlatform();
    const sources = nest.get<ComponentSource[]>(SOURCES);
    const self = sources.filter(({ name }) => name === 'self');
    sources.splice(0, sources.length, ...self, platform);
    const probes = nest.get(Probes);
    const others = probes.run.bind(probes);
    probes.run = async (checked, context) =>
      checked.kind === 'http' ? platform.run(checked, context) : others(checked, context);
    return platform;
  }

  add(key: string, behaviour: Behaviour = healthy(), overrides: Partial<Component> = {}): void {
    this.components.push(component(key, overrides));
    this.behaviours.set(key, behaviour);
  }

  async list(): Promise<SourceListing> {
    this.scans += 1;
    return { components: [...this.components], rejected: [] };
  }

  run(checked: Component, context: ProbeContext): Promise<ProbeFinding> {
    this.checks += 1;
    return (this.behaviours.get(checked.key) ?? healthy())(context, checked);
  }
}
