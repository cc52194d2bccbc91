import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { RejectedTool, ToolWarning } from '../model/connection-test.types.js';
import type { mcpLimits } from '../mcp.limits.js';
import { ConnectionError } from './connection.error.js';
import { ToolDefinitionParser } from './tool-definition.parser.js';

/** Fetches one page of `tools/list`: the raw result object. `undefined` asks for the first page; `''` is a cursor. */
export type FetchPage = (cursor: string | undefined) => Promise<Record<string, unknown>>;

/** Takes the credentials that a server was sent out of its words, as known at that moment. */
type Cleaning = () => SecretRemoval;

/** A whole list. Tools are JSON text: a tenth of the memory, and the form that crosses the thread. */
export interface ToolList {
  toolsJson: string[];
  rejectedTools: RejectedTool[];
  toolWarnings: ToolWarning[];
  /** The pages have no end, since they repeat or stay empty, so reading ended there. */
  isEndless: boolean;
}

const MAX_CURSOR = 8_192;

/**
 * Reads every page of a tool list; tools of a list without an end are kept.
 * @throws ConnectionError `invalid_tool_list`, `too_many_tools`; whatever `fetchPage` throws
 */
export async function readToolList(
  fetchPage: FetchPage,
  limits: typeof mcpLimits,
  removal: Cleaning = () => SecretRemoval.none,
): Promise<ToolList> {
  const parser = new ToolDefinitionParser(limits, removal);
  const list: ToolList = { toolsJson: [], rejectedTools: [], toolWarnings: [], isEndless: false };
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const { tools, nextCursor } = await fetchPage(cursor);
    if (!Array.isArray(tools)) {
      throw new ConnectionError('invalid_tool_list');
    }
    list.isEndless = !addPage(list, tools, { parser, page, maxTools: limits.maxTools });
    if (list.isEndless || nextCursor === undefined || nextCursor === null) {
      return list;
    }
    cursor = checkedCursor(nextCursor);
    list.isEndless = cursors.has(cursor) || endsAtCap(tools, page, limits);
    if (list.isEndless) {
      return list;
    }
    cursors.add(cursor);
  }
}

/** Whether a page is the last allowed one, and empty. @throws ConnectionError where it has tools */
function endsAtCap({ length }: unknown[], page: number, { maxPages }: typeof mcpLimits): boolean {
  if (page >= maxPages && length > 0) {
    throw new ConnectionError('too_many_tools');
  }
  return page >= maxPages;
}

/** @returns false for a later page on which every tool was listed before; that page counts nothing */
function addPage(
  list: ToolList,
  tools: unknown[],
  { parser, page, maxTools }: { parser: ToolDefinitionParser; page: number; maxTools: number },
): boolean {
  const again: RejectedTool[] = [];
  const { toolsJson, rejectedTools, toolWarnings } = list;
  const before = toolsJson.length + rejectedTools.length;
  for (const entry of tools) {
    const parsed = parser.parse(entry);
    if ('accepted' in parsed) {
      toolsJson.push(JSON.stringify(parsed.accepted));
      toolWarnings.push(...parsed.warnings);
    } else {
      const isKnown = page > 1 && parsed.rejected.reason === 'duplicate_name';
      (isKnown ? again : rejectedTools).push(parsed.rejected);
    }
    if (toolsJson.length + rejectedTools.length > maxTools || again.length > maxTools) {
      throw new ConnectionError('too_many_tools');
    }
  }
  if (again.length > 0 && toolsJson.length + rejectedTools.length === before) {
    return false;
  }
  rejectedTools.push(...again);
  return true;
}

function checkedCursor(cursor: unknown): string {
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR) {
    throw new ConnectionError('invalid_tool_list');
  }
  return cursor;
}
