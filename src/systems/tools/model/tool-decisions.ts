import type { DefinedName, ToolDecision } from './tool.types.js';

/** Earlier decisions about the tools of a resource definition, from all versions of the application. */
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

  /** Returns the decision about exactly this definition of a tool. */
  of(definition: DefinedName): ToolDecision | undefined {
    return this.byDefinition.get(keyOf(definition));
  }

  /** Returns the most recent decision about a tool of this name, whatever its definition. */
  latest(name: string): ToolDecision | undefined {
    return this.latestByName.get(name);
  }
}

/**
 * Selects decisions of the rules that can be removed if no tool has their definition, because a server that changes its definitions
 * each time would add decisions without limit. Never selects decisions that a person made or may have made.
 * @param kept number of latest decisions of each name to keep
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

/** Returns a unique key of a definition. The hash contains no spaces. */
export function keyOf({ name, definitionHash }: DefinedName): string {
  return `${name} ${definitionHash}`;
}

/** Returns whether a decision is later than another. At equal or unknown times, the one that disables the tool wins. */
function isLater(one: ToolDecision, other: ToolDecision): boolean {
  const later = timeOf(one) - timeOf(other);
  return later === 0 ? !one.enabled : later > 0;
}
