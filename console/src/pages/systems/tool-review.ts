import type { ApplicationAuditEvent, ToolResponse } from '../../../../clients/typescript/src/index.js';

/** A value of a definition, before and after; null where there was none. JSON, which the service may have cut. */
export interface FieldChange {
  path: string;
  before: string | null;
  after: string | null;
}

/** What a test found about a tool. */
export type Finding = 'added' | 'changed' | 'returned';

/** A tool that somebody should decide about. */
export interface ToReview {
  tool: ToolResponse;
  found: Finding;
  /** When. */
  at: string;
  changes: readonly FieldChange[];
  /** Who decided about this very definition elsewhere; null where nobody did. */
  takenOverFrom: string | null;
}

/** A tool as it was. */
export type Definition = Pick<ToolResponse, 'description' | 'inputSchema' | 'outputSchema'>;

/**
 * Tools that a connection test found new, changed or back, and that nobody has decided about since.
 * @param events newest first: synchronisations and switches
 */
export function toReview(
  tools: readonly ToolResponse[],
  events: readonly ApplicationAuditEvent[],
): ToReview[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const told = new Set<string>();
  const waiting: ToReview[] = [];
  for (const event of events) {
    if (event.outcome !== 'ok') {
      continue;
    }
    if (event.action === 'tool.switch' && event.toolId !== null) {
      told.add(event.toolId);
      continue;
    }
    for (const { name, ...finding } of findingsOf(event)) {
      const tool = byName.get(name);
      if (tool !== undefined && !told.has(tool.id)) {
        told.add(tool.id);
        waiting.push({ tool, at: event.timestamp, ...finding });
      }
    }
  }
  return waiting;
}

/**
 * A definition as it was before the changes; undefined where the log has not kept all of it.
 * @param now as it is now
 */
export function definitionBefore(now: Definition, changes: readonly FieldChange[]): Definition | undefined {
  const { description, inputSchema, outputSchema } = now;
  const known = structuredClone({ description, inputSchema, outputSchema }) as unknown;
  return changes.length > 0 && changes.every((change) => undo(known, change))
    ? (known as Definition)
    : undefined;
}

/** Changes of what is no member of a {@link Definition}: a person is shown them one by one. */
export function hiddenChanges(changes: readonly FieldChange[]): FieldChange[] {
  return changes.filter(({ path }) => isHidden(path));
}

/** Such as annotations. */
function isHidden(path: string): boolean {
  return !/^\/(description|inputSchema|outputSchema)(\/|$)/.test(path);
}

/** @returns whether it was possible */
function undo(root: unknown, { path, before }: FieldChange): boolean {
  if (isHidden(path)) {
    return true;
  }
  const steps = path.split('/').slice(1).map(unescaped);
  const last = steps.pop();
  let place: unknown = root;
  for (const step of steps) {
    place = isRecord(place) && Object.hasOwn(place, step) ? place[step] : undefined;
  }
  if (last === undefined || !isRecord(place)) {
    return false;
  }
  if (before === null) {
    return Reflect.deleteProperty(place, last);
  }
  try {
    place[last] = JSON.parse(before) as unknown;
    return true;
  } catch {
    return false;
  }
}

type Told = Omit<ToReview, 'tool' | 'at'> & { name: string };

function findingsOf({ action, details }: ApplicationAuditEvent): Told[] {
  if (action !== 'tools.sync' || details === null) {
    return [];
  }
  const takenOver = new Map(recordsOf(details['takenOver']).map((one) => [one['name'], deciderOf(one)]));
  const plain = (found: Finding): Told[] =>
    namesOf(details[found]).map((name) => ({
      name,
      found,
      changes: [],
      takenOverFrom: takenOver.get(name) ?? null,
    }));
  const changed = recordsOf(details['changed']).flatMap(({ name, changes }) =>
    typeof name === 'string'
      ? [{ name, found: 'changed' as const, changes: changesOf(changes), takenOverFrom: null }]
      : [],
  );
  return [...changed, ...plain('added'), ...plain('returned')];
}

function changesOf(value: unknown): FieldChange[] {
  return recordsOf(value).flatMap(({ path, before, after }) =>
    typeof path === 'string' ? [{ path, before: textOf(before), after: textOf(after) }] : [],
  );
}

function deciderOf({ decidedBy }: Record<string, unknown>): string | null {
  return isRecord(decidedBy) ? textOf(decidedBy['userName']) : null;
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : [];
}

function recordsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
