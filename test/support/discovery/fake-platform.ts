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

/** Result of checking a component. */
export type Behaviour = (context: ProbeContext, component: Component) => Promise<ProbeFinding>;

/** Returns a component of kind http, the kind that fake platforms check. */
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

/** An in-memory source of components, together with their probe. */
export class FakePlatform implements ComponentSource {
  readonly name = 'configuration';
  components: Component[] = [];
  /** Behaviour by component key. Components without one are healthy. */
  readonly behaviours = new Map<string, Behaviour>();
  scans = 0;
  checks = 0;

  /** Replaces all sources of an application, except the one for itself, with a new fake platform. */
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

/** The true state of a component, whether or not it is up. */
export interface ModelComponent {
  map: ComponentMap;
  key: string;
  tag: string;
  port: number;
  version: string;
  isUp: boolean;
}

/** A change on a platform between two scans. */
export type PlatformEvent =
  | { does: 'add'; map: ComponentMap; key: string; isUp: boolean }
  | { does: 'remove' | 'flap' | 'upgrade' | 'retag' | 'move'; pick: number };

const MAPS = ['services', 'infrastructure', 'externalIntegrations'] as const;
const platformEvent: fc.Arbitrary<PlatformEvent> = fc.oneof(
  fc.record({
    does: fc.constant('add' as const),
    map: fc.constantFrom(...MAPS),
    // Only a few keys, so that they reappear, also in other maps.
    key: fc.constantFrom('a', 'b', 'c', 'constructor', '1', 'Z'),
    isUp: fc.boolean(),
  }),
  fc.record({
    does: fc.constantFrom('remove', 'flap', 'upgrade', 'retag', 'move' as const),
    pick: fc.nat(99),
  }),
);

/** Sequences of scans: the events before each scan. */
export const histories = fc.array(fc.array(platformEvent, { maxLength: 5 }), { minLength: 1, maxLength: 15 });

/** The numbers that a scan must report. */
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
 * Model of a platform that predicts what a scan must report. Instead of fingerprints, it remembers what earlier scans
 * could see. Components report their own version, so a scan sees the version only of a component that is up.
 */
export class PlatformModel {
  readonly components: ModelComponent[] = [];
  private seen = new Map<string, Memory>();
  private count = 0;

  apply(event: PlatformEvent): void {
    this.count += 1;
    if (event.does === 'add') {
      const { map, key, isUp } = event;
      if (!this.components.some((each) => each.map === map && each.key === key)) {
        this.components.push({ map, key, isUp, tag: 'first', port: 1, version: '1.0' });
      }
      return;
    }
    const index = event.pick % Math.max(1, this.components.length);
    const picked = this.components[index];
    if (picked === undefined) {
      return;
    }
    switch (event.does) {
      case 'remove':
        this.components.splice(index, 1);
        break;
      case 'flap':
        picked.isUp = !picked.isUp;
        break;
      case 'upgrade':
        picked.version = `1.${this.count}`;
        break;
      case 'retag':
        picked.tag = `tag-${this.count}`;
        break;
      case 'move':
        picked.port = this.count;
        break;
    }
  }

  /** Returns what the next scan must report. */
  scan(): Expected {
    const seen = new Map<string, Memory>();
    let newServices = 0;
    let configurationChanges = 0;
    for (const { map, key, tag, port, version, isUp } of this.components) {
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

/** Converts a component of the model to what its source lists. */
export function toComponent({ map, key, tag, port }: ModelComponent): Component {
  return component(key, { map, tags: [tag], endpoint: `http://host.example.com:${port}` });
}

/** Converts a component of the model to the result of its check. */
export function toChecked(model: ModelComponent): CheckedComponent {
  return {
    component: toComponent(model),
    outcome: model.isUp
      ? { status: 'healthy', finding: { version: model.version } }
      : { status: 'unhealthy', failure: 'refused', detail: null },
    checkedAt: new Date(0),
    tookMs: 1,
    timeoutMs: 100,
  };
}
