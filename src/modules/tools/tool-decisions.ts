import type { ToolDecision } from './tool.types.js';

/** What was decided so far about the tools of a resource definition, in all versions of the application. */
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
  of(definition: Pick<ToolDecision, 'name' | 'definitionHash'>): ToolDecision | undefined {
    return this.byDefinition.get(keyOf(definition));
  }

  /** The most recent one about a tool of this name, however it was defined. */
  latest(name: string): ToolDecision | undefined {
    return this.latestByName.get(name);
  }
}

/** Names of tools hold no spaces. */
function keyOf({ name, definitionHash }: Pick<ToolDecision, 'name' | 'definitionHash'>): string {
  return `${name} ${definitionHash}`;
}

/** Of two at one time, or at times that nobody knows, the one that switched off counts. */
function isLater(one: ToolDecision, other: ToolDecision): boolean {
  const later = (one.decidedAt?.getTime() ?? 0) - (other.decidedAt?.getTime() ?? 0);
  return later === 0 ? !one.enabled : later > 0;
}
