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

/** What a plan needs to know besides the two lists. */
export interface SyncContext {
  systemId: string;
  /** Whether no list was ever stored for the resource definition: this is the one that was registered. */
  isFirst: boolean;
  /** What was decided so far in all versions of the application. */
  decisions: readonly ToolDecision[];
  policy: ToolChangePolicy;
  now: Date;
  newId: () => string;
}

/** A stored tool whose definition is another one now. */
export interface Redefinition {
  id: string;
  definition: HashedDefinition;
}

/** Rows to write, tools that are gone, and what it all means. Rows that stay as they are do not appear. */
export interface SyncPlan {
  rows: ToolRow[];
  goneIds: string[];
  redefinitions: Redefinition[];
  /** What the versions to come take over. */
  decisions: ToolDecision[];
  report: SyncReport;
}

type Position = { definition: HashedDefinition; position: number };
type Context = Omit<SyncContext, 'decisions'> & { earlier: ToolDecisions };

/**
 * Works out how the stored tools of a system become those that its server lists. A tool is known by its name and keeps its id
 * and flag for ever. A tool that is gone stays stored, not present, and comes back with both. A tool that the system stores for
 * the first time comes with the decision about its definition, from any version.
 * @param stored every stored tool of the system, present or not
 * @param listed the server's tools in its order, names unique
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

/** For a definition that nobody knows: a tool of another definition has changed, any other is new. */
function isEnabledAtFirst(definition: HashedDefinition, { earlier, isFirst, policy }: Context): boolean {
  const latest = earlier.latest(definition.name);
  if (policy === 'accept') {
    return latest?.enabled ?? true;
  }
  return latest === undefined && isFirst && IS_ON_AT_FIRST[policy](definition);
}

/** Whether a tool of the very first list is on without a review. The hint is the server's own word. */
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
  // A decision of a person about this definition in another version holds for later versions.
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
 * A changed tool keeps its flag, unless its new definition was decided off elsewhere. Where only rules did that they do it again: a
 * review tells when this tool was found changed.
 */
function accepted(tool: StoredTool, known: ToolDecision | undefined, now: Date): Decided {
  const isOff = known?.enabled === false;
  return isOff && known.decidedBy !== null ? decidedOf(known) : ruled(tool.enabled && !isOff, now);
}

/** What the synchronisation decides by its rules. */
function ruled(enabled: boolean, now: Date): Decided {
  return { enabled, decidedBy: null, decidedAt: now };
}

function decidedOf({ enabled, decidedBy, decidedAt }: Decided): Decided {
  return { enabled, decidedBy, decidedAt };
}

/**
 * Tools that were decided on as they were before they are defined anew: by a person, or by rules that let agents call them. What a
 * person decided is what a later review begins from. What the rules did is that only where no person was there before.
 * @returns ids
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

/** Whether a synchronisation did anything that a person should know of. */
export function isEmpty({ added, changed, removed, returned }: SyncReport): boolean {
  return added.length + changed.length + removed.length + returned.length === 0;
}
