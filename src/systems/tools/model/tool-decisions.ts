import type { DefinedName, ToolDecision } from './tool.types.js';

/** The decisions so far about the tools of a resource definition, in all versions of the application. */
export class ToolDecisions {
  private readonly byDefinition = new Map<string, ToolDecision>();
  private readonly latestByName = new Map<string, ToolDecision>();

  constructor(decisions: readonly ToolDecision[]) {
    for (const decision of decisions) {
      this.byDefinition.set(keyOf(decision), decision);
      const other = this.latestByName.get(decision.name);
      if (other === undefined || isLater(decision, other)) {
        this.latestByName.set(decision.name, decision);
      }
    }
  }

  /** About exactly this definition of a tool. */
  of(definition: DefinedName): ToolDecision | undefined {
    return this.byDefinition.get(keyOf(definition));
  }

  /** The most recent one about a tool of this name, however it was defined. */
  latest(name: string): ToolDecision | undefined {
    return this.latestByName.get(name);
  }
}

/**
 * Decisions that need not be kept, because no tool has the definition any more. A server that describes its tools anew each
 * time would add decisions without end. Never what a person decided, or may have decided before that was kept.
 * @param kept how many others of each name stay, the latest
 */
export function outlived(decisions: readonly ToolDecision[], kept: number): ToolDecision[] {
  const ruled = decisions.filter(({ decidedBy, decidedAt }) => decidedBy === null && decidedAt !== null);
  const counts = new Map<string, number>();
  return ruled
    .toSorted((one, other) => timeOf(other) - timeOf(one))
    .filter(({ name }) => {
      const later = counts.get(name) ?? 0;
      counts.set(name, later + 1);
      return later >= kept;
    });
}

function timeOf({ decidedAt }: ToolDecision): number {
  return decidedAt?.getTime() ?? 0;
}

/** Tells definitions apart: names of tools hold no spaces. */
export function keyOf({ name, definitionHash }: DefinedName): string {
  return `${name} ${definitionHash}`;
}

/** Of two at one time, or at times that nobody knows, the one that switched off counts. */
function isLater(one: ToolDecision, other: ToolDecision): boolean {
  const later = timeOf(one) - timeOf(other);
  return later === 0 ? !one.enabled : later > 0;
}
