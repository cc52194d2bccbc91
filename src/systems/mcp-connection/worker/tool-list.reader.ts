import { isJsonObject, type JsonObject, type JsonValue } from '#engine/json';
import type { mcpLimits } from '../mcp.limits.js';
import { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import type {
  DiscoveredTool,
  RejectedTool,
  RejectedToolReason,
  ToolWarning,
} from '../model/connection-test.types.js';
import { hasValidHeaderDeclarations } from './param-headers.js';
import { hidesText, isCut, plainText } from './plain-text.js';
import { boundsProblem, schemaProblem, withVisibleTexts } from './schema-check.js';
import { ConnectionError } from './connection.error.js';

/** Names of MCP 2026-07-28, "Tool Names", plus `/`. Models know tools with other names by an alias. */
const USUAL_NAME = /^[A-Za-z0-9_./-]+$/;
/** One line of visible characters without leading or trailing blanks, which people do not see and some databases ignore. */
const TOOL_NAME = /^(?!\s)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]{1,128}(?<!\s)$/u;
const MAX_NAME = 128;
const MAX_TITLE = 255;
const MAX_DESCRIPTION = 16_000;

/** One validated entry of a tool list. */
type ParsedTool = { accepted: DiscoveredTool; warnings: ToolWarning[] } | { rejected: RejectedTool };

/** Validates the tools of one list one by one (docs/contract.md, section 2.2). The first tool of a name wins. */
export class ToolDefinitionParser {
  private readonly names = new Set<string>();

  /** @param removal removes sent credentials; a tool whose name contains them is rejected */
  constructor(
    private readonly limits: typeof mcpLimits,
    private readonly removal: () => SecretRemoval = () => SecretRemoval.none,
  ) {}

  /** Validates one entry. @param entry any value from the server */
  parse(entry: unknown): ParsedTool {
    if (!isJsonObject(entry)) {
      return rejected('', 'not_an_object');
    }
    const removal = this.removal();
    const name = textWithout(removal, entry['name']);
    // The server does not know a tool by a name from which a secret was removed.
    if (typeof name !== 'string' || name !== entry['name'] || !TOOL_NAME.test(name) || hidesText(name)) {
      return rejected(name, 'invalid_name');
    }
    if (this.names.has(name)) {
      return rejected(name, 'duplicate_name');
    }
    const problem = this.inputProblem(entry['inputSchema']) ?? this.annotationsProblem(entry['annotations']);
    if (problem !== undefined) {
      return rejected(name, problem);
    }
    this.names.add(name);
    const dropsOutput = this.dropsOutputSchema(entry['outputSchema']);
    const kept = dropsOutput ? { ...entry, outputSchema: null } : entry;
    const found = { output_schema_dropped: dropsOutput, ...warningsOn(name, kept) };
    const reasons = (Object.keys(found) as ToolWarning['reason'][]).filter((reason) => found[reason]);
    return {
      accepted: definitionOf(name, kept, removal),
      warnings: reasons.map((reason) => ({ name, reason })),
    };
  }

  private inputProblem(schema: unknown): RejectedToolReason | undefined {
    if (!isJsonObject(schema) || (schema['type'] !== undefined && schema['type'] !== 'object')) {
      return 'invalid_input_schema';
    }
    const problem = schemaProblem(schema, this.limits);
    return problem ?? (hasValidHeaderDeclarations(schema) ? undefined : 'invalid_header_declaration');
  }

  /** Returns whether to drop an output schema. An invalid one does not reject the tool, because output is not validated. */
  private dropsOutputSchema(schema: unknown): boolean {
    const isThere = schema !== undefined && schema !== null;
    return isThere && (!isJsonObject(schema) || schemaProblem(schema, this.limits) !== undefined);
  }

  private annotationsProblem(annotations: unknown): RejectedToolReason | undefined {
    if (annotations === undefined || annotations === null) {
      return undefined;
    }
    const problem = isJsonObject(annotations)
      ? boundsProblem(annotations, this.limits)
      : 'invalid_annotations';
    return problem === undefined || problem === 'hidden_characters' ? problem : 'invalid_annotations';
  }
}

function warningsOn(
  name: string,
  { title, description, inputSchema, outputSchema, annotations, execution }: JsonObject,
): Record<Exclude<ToolWarning['reason'], 'output_schema_dropped'>, boolean> {
  const titles = [title, isJsonObject(annotations) ? annotations['title'] : undefined];
  const shown = titles.find((text) => plainText(text, MAX_TITLE) !== '');
  return {
    name_needs_alias: !USUAL_NAME.test(name),
    title_cut: isCut(shown, MAX_TITLE),
    description_cut: isCut(description, MAX_DESCRIPTION),
    hidden_characters_removed: hides([title, description, inputSchema, outputSchema, annotations]),
    // MCP 2025-11-25, "Tool-Level Negotiation".
    task_required: isJsonObject(execution) && execution['taskSupport'] === 'required',
  };
}

/** Returns whether any text of a checked definition has hidden characters. Recursive, so only for values of limited depth. */
function hides(value: unknown): boolean {
  if (typeof value === 'string') {
    return hidesText(value);
  }
  return typeof value === 'object' && value !== null && Object.values(value).some(hides);
}

function definitionOf(
  name: string,
  { title, description, inputSchema, outputSchema, annotations }: JsonObject,
  removal: SecretRemoval,
) {
  const clean = (value: JsonObject) => removal.json(value as JsonValue) as JsonObject;
  const hints = isJsonObject(annotations) ? clean(annotations) : null;
  return {
    name,
    title:
      plainText(textWithout(removal, title), MAX_TITLE) || plainText(hints?.['title'], MAX_TITLE) || null,
    description: plainText(textWithout(removal, description), MAX_DESCRIPTION),
    inputSchema: withVisibleTexts(clean(inputSchema as JsonObject)),
    outputSchema: isJsonObject(outputSchema) ? withVisibleTexts(clean(outputSchema)) : null,
    annotations: hints === null ? null : withVisibleTexts(hints),
  };
}

function textWithout(removal: SecretRemoval, value: unknown): unknown {
  return typeof value === 'string' ? removal.text(value) : value;
}

function rejected(name: unknown, reason: RejectedToolReason): ParsedTool {
  const printable = plainText(name, MAX_NAME).replace(/\s/g, ' ');
  return { rejected: { name: printable, reason } };
}

/** Fetches the raw result of one page of `tools/list`. `undefined` requests the first page; `''` is a valid cursor. */
export type FetchPage = (cursor: string | undefined) => Promise<Record<string, unknown>>;

/** Returns the current filter for credentials sent to the server. */
type Cleaning = () => SecretRemoval;

/** A complete list. Tools are JSON text, which uses a tenth of the memory and can be passed between threads. */
export interface ToolList {
  toolsJson: string[];
  rejectedTools: RejectedTool[];
  toolWarnings: ToolWarning[];
  /** Whether reading stopped because pages repeat or stay empty. */
  isEndless: boolean;
}

const MAX_CURSOR = 8_192;

/**
 * Reads all pages of a tool list. Keeps the tools of an endless list.
 * @throws ConnectionError `invalid_tool_list`, `too_many_tools`; errors of `fetchPage`
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

/** Returns whether a page is the last allowed one. @throws ConnectionError when it has tools */
function endsAtCap({ length }: unknown[], page: number, { maxPages }: typeof mcpLimits): boolean {
  if (page >= maxPages && length > 0) {
    throw new ConnectionError('too_many_tools');
  }
  return page >= maxPages;
}

/** Adds the tools of a page. @returns false for a later page that only repeats tools, which adds nothing */
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
