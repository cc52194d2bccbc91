import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { RejectedTool } from '../model/connection-test.types.js';
import type { ToolListLimits } from '../model/tool-list-limits.js';
import { ConnectionError } from './connection.error.js';
import { ToolDefinitionParser } from './tool-definition.parser.js';

/** Fetches one page of `tools/list`: the raw result object. `undefined` asks for the first page; `''` is a cursor. */
export type FetchPage = (cursor: string | undefined) => Promise<Record<string, unknown>>;

/** Takes the credentials that a server was sent out of its words, as known at that moment. */
export type Cleaning = () => SecretRemoval;

/**
 * A whole list. Tools are kept as JSON text: it takes a tenth of the memory of objects, and it is the form that crosses the
 * thread.
 */
export interface ToolList {
  toolsJson: string[];
  rejectedTools: RejectedTool[];
}

const MAX_CURSOR = 8_192;

/**
 * Reads every page of a tool list.
 * @throws ConnectionError `invalid_tool_list` when a page is not a list or a cursor repeats, `too_many_tools` at a cap;
 * whatever `fetchPage` throws
 */
export async function readToolList(
  fetchPage: FetchPage,
  limits: ToolListLimits,
  removal: Cleaning = () => SecretRemoval.none,
): Promise<ToolList> {
  const parser = new ToolDefinitionParser(limits, removal);
  const list: ToolList = { toolsJson: [], rejectedTools: [] };
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const { tools, nextCursor } = await fetchPage(cursor);
    if (!Array.isArray(tools)) {
      throw new ConnectionError('invalid_tool_list');
    }
    addPage(list, tools, { parser, maxTools: limits.maxTools });
    if (nextCursor === undefined || nextCursor === null) {
      return list;
    }
    cursor = checkedCursor(nextCursor, cursors);
    if (page >= limits.maxPages) {
      throw new ConnectionError('too_many_tools');
    }
  }
}

function addPage(
  list: ToolList,
  tools: unknown[],
  { parser, maxTools }: { parser: ToolDefinitionParser; maxTools: number },
): void {
  if (list.toolsJson.length + list.rejectedTools.length + tools.length > maxTools) {
    throw new ConnectionError('too_many_tools');
  }
  for (const entry of tools) {
    const parsed = parser.parse(entry);
    if ('accepted' in parsed) {
      list.toolsJson.push(JSON.stringify(parsed.accepted));
    } else {
      list.rejectedTools.push(parsed.rejected);
    }
  }
}

function checkedCursor(cursor: unknown, seen: Set<string>): string {
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR || seen.has(cursor)) {
    throw new ConnectionError('invalid_tool_list');
  }
  seen.add(cursor);
  return cursor;
}
