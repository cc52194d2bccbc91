import type { ToolEntity } from './entities/tool.entity.js';
import { definitionChanges, definitionHash, MAX_CHANGES } from './tool-definition.js';
import type { ChangedTool, SyncReport, ToolChangePolicy, ToolDefinition } from './tool.types.js';

/** A tool without the relation to its system. */
export type StoredTool = Omit<ToolEntity, 'system'>;

/** What a plan needs to know besides the two lists. */
export interface SyncContext {
  systemId: string;
  /** Whether this is the first list ever read from the server: what is found now is what the admin registered. */
  isBaseline: boolean;
  policy: ToolChangePolicy;
  now: Date;
  newId: () => string;
}

/** Rows to write, and what they mean. Rows that stay as they are do not appear. */
export interface SyncPlan {
  rows: StoredTool[];
  report: SyncReport;
}

/** Differences that are told of one synchronisation: every changed tool with at least one, in a record of bounded size. */
const MAX_CHANGES_IN_ALL = 2_000;

type Change = [before: StoredTool, after: ToolDefinition];

/**
 * Works out how the stored tools of a system become those that its server lists. A tool is known by its name and keeps
 * its id and flag for ever: one that is gone stays stored, not present, and comes back as it was.
 * @param stored every stored tool of the system, present or not
 * @param listed the server's tools in its order, names unique
 */
export function planSync(stored: StoredTool[], listed: ToolDefinition[], context: SyncContext): SyncPlan {
  const known = new Map(stored.map((tool) => [tool.name, tool]));
  const report: SyncReport = { added: [], changed: [], removed: [], returned: [], disabledForReview: [] };
  const changes: Change[] = [];
  const listedRows = listed.flatMap((definition, position) => {
    const tool = known.get(definition.name);
    const row =
      tool === undefined
        ? newRow(definition, position, context, report)
        : nextRow(tool, definition, { ...context, position }, report);
    if (tool !== undefined && row.definitionHash !== tool.definitionHash) {
      changes.push([tool, definition]);
    }
    return row === tool ? [] : [row];
  });
  report.changed = changes.map(([before, after]) => toChangedTool(before, after, changes.length));
  return { rows: [...listedRows, ...goneRows(stored, listed, context, report)], report };
}

function newRow(
  definition: ToolDefinition,
  position: number,
  { systemId, isBaseline, policy, now, newId }: SyncContext,
  report: SyncReport,
): StoredTool {
  const enabled = isBaseline || policy === 'accept';
  report.added.push(definition.name);
  if (!enabled) {
    report.disabledForReview.push(definition.name);
  }
  return {
    ...definition,
    id: newId(),
    systemId,
    definitionHash: definitionHash(definition),
    enabled,
    present: true,
    position,
    createdAt: now,
    modifiedAt: now,
  };
}

function nextRow(
  tool: StoredTool,
  definition: ToolDefinition,
  { policy, now, position }: SyncContext & { position: number },
  report: SyncReport,
): StoredTool {
  if (!tool.present) {
    report.returned.push(tool.name);
  }
  const hash = definitionHash(definition);
  if (hash === tool.definitionHash) {
    return tool.present && tool.position === position ? tool : { ...tool, present: true, position };
  }
  const enabled = tool.enabled && policy === 'accept';
  if (tool.enabled && !enabled) {
    report.disabledForReview.push(tool.name);
  }
  return { ...tool, ...definition, definitionHash: hash, enabled, present: true, position, modifiedAt: now };
}

function toChangedTool(before: StoredTool, after: ToolDefinition, changedTools: number): ChangedTool {
  const fairShare = Math.max(1, Math.floor(MAX_CHANGES_IN_ALL / changedTools));
  return { name: before.name, changes: definitionChanges(before, after, Math.min(MAX_CHANGES, fairShare)) };
}

function goneRows(
  stored: StoredTool[],
  listed: ToolDefinition[],
  { now }: SyncContext,
  report: SyncReport,
): StoredTool[] {
  const names = new Set(listed.map(({ name }) => name));
  const gone = stored.filter((tool) => tool.present && !names.has(tool.name));
  report.removed.push(...gone.map(({ name }) => name));
  return gone.map((tool) => ({ ...tool, present: false, modifiedAt: now }));
}

/** Whether a synchronisation did anything that a person should know of. */
export function isEmpty({ added, changed, removed, returned }: SyncReport): boolean {
  return added.length + changed.length + removed.length + returned.length === 0;
}
