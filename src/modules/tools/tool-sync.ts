import type { ToolEntity } from './entities/tool.entity.js';
import type { HashedDefinition, SyncReport, ToolChangePolicy } from './tool.types.js';

/** A tool without the relation to its system. */
export type ToolRow = Omit<ToolEntity, 'system'>;

/** What a plan needs to know of a stored tool: not its definition, only the fingerprint. */
export type StoredTool = Pick<
  ToolRow,
  'id' | 'name' | 'definitionHash' | 'enabled' | 'present' | 'position' | 'createdAt' | 'modifiedAt'
>;

/** What a plan needs to know besides the two lists. */
export interface SyncContext {
  systemId: string;
  /** Whether this is the first list ever read from the server: what is found now is what the admin registered. */
  isBaseline: boolean;
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
  report: SyncReport;
}

/**
 * Works out how the stored tools of a system become those that its server lists. A tool is known by its name and keeps
 * its id and flag for ever: one that is gone stays stored, not present, and comes back as it was.
 * @param stored every stored tool of the system, present or not
 * @param listed the server's tools in its order, names unique
 */
export function planSync(stored: StoredTool[], listed: HashedDefinition[], context: SyncContext): SyncPlan {
  const known = new Map(stored.map((tool) => [tool.name, tool]));
  const report: SyncReport = { added: [], changed: [], removed: [], returned: [], disabledForReview: [] };
  const plan: SyncPlan = { rows: [], goneIds: [], redefinitions: [], report };
  listed.forEach((definition, position) => {
    const tool = known.get(definition.name);
    if (tool === undefined) {
      plan.rows.push(newRow(definition, position, context, report));
    } else {
      planKnown(plan, tool, { definition, position }, context);
    }
  });
  const names = new Set(listed.map(({ name }) => name));
  const gone = stored.filter((tool) => tool.present && !names.has(tool.name));
  report.removed.push(...gone.map(({ name }) => name));
  plan.goneIds.push(...gone.map(({ id }) => id));
  return plan;
}

function newRow(
  definition: HashedDefinition,
  position: number,
  { systemId, isBaseline, policy, now, newId }: SyncContext,
  report: SyncReport,
): ToolRow {
  const enabled = isBaseline || policy === 'accept';
  report.added.push(definition.name);
  if (!enabled) {
    report.disabledForReview.push(definition.name);
  }
  const times = { createdAt: now, modifiedAt: now };
  return { ...definition, id: newId(), systemId, enabled, present: true, position, ...times };
}

function planKnown(
  { rows, redefinitions, report }: SyncPlan,
  tool: StoredTool,
  { definition, position }: { definition: HashedDefinition; position: number },
  { systemId, policy, now }: SyncContext,
): void {
  if (!tool.present) {
    report.returned.push(tool.name);
  }
  const next = { ...tool, ...definition, systemId, present: true, position };
  if (definition.definitionHash === tool.definitionHash) {
    if (!tool.present || tool.position !== position) {
      rows.push(next);
    }
    return;
  }
  const enabled = tool.enabled && policy === 'accept';
  if (tool.enabled && !enabled) {
    report.disabledForReview.push(tool.name);
  }
  report.changed.push(tool.name);
  redefinitions.push({ id: tool.id, definition });
  rows.push({ ...next, enabled, modifiedAt: now });
}

/** Whether a synchronisation did anything that a person should know of. */
export function isEmpty({ added, changed, removed, returned }: SyncReport): boolean {
  return added.length + changed.length + removed.length + returned.length === 0;
}
