import type { Component, ComponentSourceName } from '../model/component.types.js';
import type { SourceListing } from './component-source.js';
import type { Declaration } from './configuration/declared-component.js';

const MAX_REJECTED = 100;

/** Collects the components of a source: each key of a map once, and no more than one scan may hold. */
export class Listing {
  private readonly components = new Map<string, Component>();
  private readonly rejected: { key: string; reason: string }[] = [];
  private rejectedBeyond = 0;
  private isCut = false;

  /** @param max `components` */
  constructor(
    private readonly source: ComponentSourceName,
    private readonly max: number,
  ) {}

  /** Whether a further component would be left out. */
  get isFull(): boolean {
    return this.components.size >= this.max;
  }

  add(component: Component): void {
    const place = `${component.map}/${component.key}`;
    if (this.components.has(place)) {
      this.reject(component.key, 'The key occurs more than once in this source; the first one counts.');
    } else if (this.isFull) {
      this.cut();
    } else {
      this.components.set(place, component);
    }
  }

  /** Adds what was declared, or names the rules that it breaks. */
  addDeclared(declared: Declaration): void {
    if ('component' in declared) {
      this.add(declared.component);
    } else {
      declared.mistakes.forEach((mistake) => this.reject(declared.key, `${mistake}.`));
    }
  }

  /** Leaves an entry out. @param reason a sentence that is safe to show: never a value */
  reject(key: string, reason: string): void {
    if (this.rejected.length < MAX_REJECTED) {
      this.rejected.push({ key, reason });
    } else {
      this.rejectedBeyond += 1;
    }
  }

  /** Notes that there are more components than a scan may hold. */
  cut(): void {
    this.isCut = true;
  }

  done(): SourceListing {
    const notes = [
      ...(this.isCut ? [`There are more than ${this.max} components; the rest is left out.`] : []),
      ...(this.rejectedBeyond > 0 ? [`${this.rejectedBeyond} more entries cannot be used.`] : []),
    ];
    return {
      components: [...this.components.values()],
      rejected: [...this.rejected, ...notes.map((reason) => ({ key: this.source, reason }))],
    };
  }
}
