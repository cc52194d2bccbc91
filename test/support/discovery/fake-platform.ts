import type { NestExpressApplication } from '@nestjs/platform-express';
import {
  type Component,
  componentOf,
  type ComponentMap,
} from '../../../src/discovery/model/component.types.js';
import { Probes } from '../../../src/discovery/probes/kinds/probes.js';
import { ProbeError } from '../../../src/discovery/model/failures.js';
import type { ProbeContext, ProbeFinding } from '../../../src/discovery/model/probe.js';
import type { ComponentSource, SourceListing } from '../../../src/discovery/sources/listing.js';
import { SOURCES } from '../../../src/discovery/sources/sources.js';
import * as fc from 'fast-check';
import type { CheckedComponent } from '../../../src/discovery/model/scan.types.js';

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

/** A component as it is, whether it answers or not. */
export interface Thing {
  map: ComponentMap;
  key: string;
  tag: string;
  port: number;
  version: string;
  isUp: boolean;
}

/** Something that happens on a platform between two scans. */
export type Happening =
  | { does: 'add'; map: ComponentMap; key: string; isUp: boolean }
  | { does: 'remove' | 'flap' | 'upgrade' | 'retag' | 'move'; pick: number };

const MAPS = ['services', 'infrastructure', 'externalIntegrations'] as const;
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    does: fc.constant('add' as const),
    map: fc.constantFrom(...MAPS),
    // Few keys, so that they come back, in other maps, too.
    key: fc.constantFrom('a', 'b', 'c', 'constructor', '1', 'Z'),
    isUp: fc.boolean(),
  }),
  fc.record({
    does: fc.constantFrom('remove', 'flap', 'upgrade', 'retag', 'move' as const),
    pick: fc.nat(99),
  }),
);

/** What happens before each of some scans. */
export const histories = fc.array(fc.array(happening, { maxLength: 5 }), { minLength: 1, maxLength: 15 });

/** The numbers that a scan has to tell. */
export interface Expected {
  newServices: number;
  configurationChanges: number;
}

interface Memory {
  tag: string;
  port: number;
  version: string | null;
}

/**
 * A platform that says what a scan has to find, without fingerprints: it keeps what the scans before have been able to
 * see. The version is what a component says of itself, so only one that is up tells it.
 */
export class PlatformModel {
  readonly things: Thing[] = [];
  private seen = new Map<string, Memory>();
  private count = 0;

  happen(event: Happening): void {
    this.count += 1;
    if (event.does === 'add') {
      const { map, key, isUp } = event;
      if (!this.things.some((thing) => thing.map === map && thing.key === key)) {
        this.things.push({ map, key, isUp, tag: 'first', port: 1, version: '1.0' });
      }
      return;
    }
    const index = event.pick % Math.max(1, this.things.length);
    const thing = this.things[index];
    if (thing === undefined) {
      return;
    }
    switch (event.does) {
      case 'remove':
        this.things.splice(index, 1);
        break;
      case 'flap':
        thing.isUp = !thing.isUp;
        break;
      case 'upgrade':
        thing.version = `1.${this.count}`;
        break;
      case 'retag':
        thing.tag = `tag-${this.count}`;
        break;
      case 'move':
        thing.port = this.count;
        break;
    }
  }

  /** What the scan that comes now has to tell. */
  scan(): Expected {
    const seen = new Map<string, Memory>();
    let newServices = 0;
    let configurationChanges = 0;
    for (const { map, key, tag, port, version, isUp } of this.things) {
      const last = this.seen.get(`${map} ${key}`);
      this.seen.delete(`${map} ${key}`);
      const remembered = last?.port === port ? last.version : null;
      seen.set(`${map} ${key}`, { tag, port, version: isUp ? version : remembered });
      if (last === undefined) {
        newServices += map === 'services' ? 1 : 0;
      } else {
        const isOther = isUp && last.version !== null && last.version !== version;
        configurationChanges += last.tag !== tag || last.port !== port || isOther ? 1 : 0;
      }
    }
    configurationChanges += this.seen.size;
    this.seen = seen;
    return { newServices, configurationChanges };
  }
}

/** The component of a thing, as its source names it. */
export function toComponent({ map, key, tag, port }: Thing): Component {
  return component(key, { map, tags: [tag], endpoint: `http://host.example.com:${port}` });
}

/** What a check of it finds. */
export function toChecked(thing: Thing): CheckedComponent {
  return {
    component: toComponent(thing),
    outcome: thing.isUp
      ? { status: 'healthy', finding: { version: thing.version } }
      : { status: 'unhealthy', failure: 'refused', detail: null },
    checkedAt: new Date(0),
    tookMs: 1,
    timeoutMs: 100,
  };
}
