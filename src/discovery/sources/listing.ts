import { discoveryLimits } from '../discovery.limits.js';
import type { Component, ComponentSourceName } from '../model/component.types.js';
import type { Declaration } from './configuration/declared-component.js';

/** A source of components, listed again for each scan. */
export interface ComponentSource {
  readonly name: ComponentSourceName;
  /** @param signal ends every connection at the deadline of the source @throws SourceError */
  list(signal: AbortSignal): Promise<SourceListing>;
}

/** Components of a source at this moment. */
export interface SourceListing {
  components: Component[];
  /** Rejected entries with key and reason; each is an issue of the scan. */
  rejected: { key: string; reason: string }[];
}

const MAX_REJECTED = 100;

/** Collects the components of a source: each key of a map once, and at most the number of components of a scan. */
export class Listing {
  private readonly components = new Map<string, Component>();
  private readonly rejected: { key: string; reason: string }[] = [];
  private rejectedBeyond = 0;
  private isCut = false;

  constructor(private readonly source: ComponentSourceName) {}

  /** Whether further components would be dropped. */
  get isFull(): boolean {
    return this.components.size >= discoveryLimits.components;
  }

  add(component: Component): void {
    const place = `${component.map}/${component.key}`;
    if (this.components.has(place)) {
      this.reject(component.key, 'The key occurs more than once in this source; the first one is used.');
    } else if (this.isFull) {
      this.cut();
    } else {
      this.components.set(place, component);
    }
  }

  /** Adds a declared component, or reports the rules that it breaks. */
  addDeclared(declared: Declaration): void {
    if ('component' in declared) {
      this.add(declared.component);
    } else {
      declared.mistakes.forEach((mistake) => this.reject(declared.key, `${mistake}.`));
    }
  }

  /** Rejects an entry. @param reason a sentence that is safe to show: never a value */
  reject(key: string, reason: string): void {
    if (this.rejected.length < MAX_REJECTED) {
      this.rejected.push({ key, reason });
    } else {
      this.rejectedBeyond += 1;
    }
  }

  /** Returns at most as many entries as a scan may have components. */
  first<Entry>(entries: readonly Entry[]): Entry[] {
    this.isCut ||= entries.length > discoveryLimits.components;
    return entries.slice(0, discoveryLimits.components);
  }

  /** Records that there are more components than a scan may have. */
  cut(): void {
    this.isCut = true;
  }

  done(): SourceListing {
    const notes = [
      ...(this.isCut
        ? [`There are more than ${discoveryLimits.components} components; the rest is ignored.`]
        : []),
      ...(this.rejectedBeyond > 0 ? [`${this.rejectedBeyond} more entries cannot be used.`] : []),
    ];
    return {
      components: [...this.components.values()],
      rejected: [...this.rejected, ...notes.map((reason) => ({ key: this.source, reason }))],
    };
  }
}
