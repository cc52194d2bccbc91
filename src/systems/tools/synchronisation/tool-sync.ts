import type { ToolRow } from '../storage/tool.entity.js';
import type { StoredTool } from '../storage/tools.repository.js';
import { ToolDecisions } from '../model/tool-decisions.js';
import type {
  Decided,
  HashedDefinition,
  SyncReport,
  ToolChangePolicy,
  ToolDecision,
} from '../model/tool.types.js';

/** Input of a plan in addition to the two lists. */
export interface SyncContext {
  systemId: string;
  /** Whether this is the first list of the resource definition. */
  isFirst: boolean;
  /** Earlier decisions in all versions of the application. */
  decisions: readonly ToolDecision[];
  policy: ToolChangePolicy;
  now: Date;
  newId: () => string;
}

/** A stored tool with its new definition. */
export interface Redefinition {
  id: string;
  definition: HashedDefinition;
}

/** Rows to write, tools that are gone, new decisions and a report. Contains no unchanged rows. */
export interface SyncPlan {
  rows: ToolRow[];
  goneIds: string[];
  redefinitions: Redefinition[];
  /** Decisions that later versions inherit. */
  decisions: ToolDecision[];
  report: SyncReport;
}

type Position = { definition: HashedDefinition; position: number };
type Context = Omit<SyncContext, 'decisions'> & { earlier: ToolDecisions };

/**
 * Plans how to update the stored tools of a system to the list of its server. A tool is identified by its name. A tool that is gone
 * stays stored as not present and returns with its id and flag. A tool that is new in the system inherits the decision about its
 * definition from any version.
 * @param stored all stored tools of the system, present or not
 * @param listed the server's tools in its order, with unique names
 */
export function planSync(
  stored: StoredTool[],
  listed: HashedDefinition[],
  { decisions, ...rest }: SyncContext,
): SyncPlan {
  const context: Context = { ...rest, earlier: new ToolDecisions(decisions) };
  const known = new Map(stored.map((tool) => [tool.name, tool]));
  const report = { added: [], changed: [], removed: [], returned: [], disabledForReview: [], takenOver: [] };
  const plan: SyncPlan = { rows: [], goneIds: [], redefinitions: [], decisions: [], report };
  listed.forEach((definition, position) => {
    const tool = known.get(definition.name);
    if (tool === undefined) {
      planNew(plan, { definition, position }, context);
    } else if (tool.definitionHash === definition.definitionHash) {
      planSame(plan, tool, { definition, position }, context);
    } else {
      planChanged(plan, tool, { definition, position }, context);
    }
  });
  const names = new Set(listed.map(({ name }) => name));
  const gone = stored.filter((tool) => tool.present && !names.has(tool.name));
  plan.report.removed.push(...gone.map(({ name }) => name));
  plan.goneIds.push(...gone.map(({ id }) => id));
  return plan;
}

function planNew(
  { rows, decisions, report }: SyncPlan,
  { definition, position }: Position,
  context: Context,
): void {
  const { systemId, earlier, now, newId } = context;
  const { name, definitionHash } = definition;
  const known = earlier.of(definition);
  const decided = known === undefined ? ruled(isEnabledAtFirst(definition, context), now) : decidedOf(known);
  report.added.push(name);
  if (known === undefined) {
    decisions.push({ name, definitionHash, ...decided });
  } else {
    report.takenOver.push({ name, ...decided });
  }
  if (!decided.enabled && decided.decidedBy === null) {
    report.disabledForReview.push(name);
  }
  const row = { ...definition, ...decided, id: newId(), systemId, present: true, position };
  rows.push({ ...row, createdAt: now, modifiedAt: now });
}

/** Decides about a definition without a decision. If the name has one, the tool has changed; otherwise it is new. */
function isEnabledAtFirst(definition: HashedDefinition, { earlier, isFirst, policy }: Context): boolean {
  const latest = earlier.latest(definition.name);
  if (policy === 'accept') {
    return latest?.enabled ?? true;
  }
  return latest === undefined && isFirst && IS_ON_AT_FIRST[policy](definition);
}

/** Whether a tool of the first list is enabled without a review. `readOnlyHint` is an unverified claim of the server. */
const IS_ON_AT_FIRST: Record<Exclude<ToolChangePolicy, 'accept'>, (tool: HashedDefinition) => boolean> = {
  'review-changes': () => true,
  'review-writes': ({ annotations }) => annotations?.['readOnlyHint'] === true,
  review: () => false,
};

function planSame(
  { rows, decisions, report }: SyncPlan,
  tool: StoredTool,
  { definition, position }: Position,
  { systemId, earlier }: Context,
): void {
  if (earlier.of(definition) === undefined) {
    const { name, definitionHash } = tool;
    decisions.push({ name, definitionHash, ...decidedOf(tool) });
  }
  if (!tool.present) {
    report.returned.push(tool.name);
  }
  if (!tool.present || tool.position !== position) {
    rows.push({ ...tool, ...definition, systemId, present: true, position });
  }
}

function planChanged(
  { rows, redefinitions, decisions, report }: SyncPlan,
  tool: StoredTool,
  { definition, position }: Position,
  { systemId, earlier, policy, now }: Context,
): void {
  const { name, definitionHash } = definition;
  const known = earlier.of(definition);
  const decided = policy === 'accept' ? accepted(tool, known, now) : ruled(false, now);
  // Keeps the decision of a person about this definition in another version, for later versions to inherit.
  if (known === undefined || known.decidedBy === null) {
    decisions.push({ name, definitionHash, ...decided });
  }
  if (!tool.present) {
    report.returned.push(name);
  }
  if (tool.enabled && !decided.enabled) {
    report.disabledForReview.push(name);
  }
  report.changed.push(name);
  redefinitions.push({ id: tool.id, definition });
  rows.push({ ...tool, ...definition, ...decided, systemId, present: true, position, modifiedAt: now });
}

/**
 * Decides about a changed tool under the policy `accept`: it keeps its flag, unless its new definition was disabled elsewhere. Renews
 * a decision of the rules, so that a review shows when this tool changed.
 */
function accepted(tool: StoredTool, known: ToolDecision | undefined, now: Date): Decided {
  const isOff = known?.enabled === false;
  return isOff && known.decidedBy !== null ? decidedOf(known) : ruled(tool.enabled && !isOff, now);
}

/** Returns a decision of the rules. */
function ruled(enabled: boolean, now: Date): Decided {
  return { enabled, decidedBy: null, decidedAt: now };
}

function decidedOf({ enabled, decidedBy, decidedAt }: Decided): Decided {
  return { enabled, decidedBy, decidedAt };
}

/**
 * Finds the tools with new definitions whose old definition was decided about: by a person, or by rules that enabled it. A later
 * review compares with the decision of a person; with that of the rules only if there is none of a person.
 * @returns tool ids
 */
export function decidedBefore(
  stored: readonly StoredTool[],
  redefinitions: readonly Redefinition[],
): { byPerson: string[]; byRules: string[] } {
  const ids = new Set(redefinitions.map(({ id }) => id));
  const redefined = stored.filter(({ id }) => ids.has(id));
  const byPerson = redefined.filter(({ decidedBy }) => decidedBy !== null);
  const byRules = redefined.filter(({ decidedBy, enabled }) => decidedBy === null && enabled);
  return { byPerson: byPerson.map(({ id }) => id), byRules: byRules.map(({ id }) => id) };
}

/** Returns whether a report contains no changes that a person should know about. */
export function isEmpty({ added, changed, removed, returned }: SyncReport): boolean {
  return added.length + changed.length + removed.length + returned.length === 0;
}
