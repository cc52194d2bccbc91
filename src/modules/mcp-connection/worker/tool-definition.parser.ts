import type { JsonValue } from '../../../common/json.js';
import type { SchemaLimits } from '../model/tool-list-limits.js';
import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import {
  type DiscoveredTool,
  type RejectedTool,
  type RejectedToolReason,
  TOOL_WARNING_REASONS,
  type ToolWarning,
} from '../model/connection-test.types.js';
import { hasValidHeaderDeclarations } from './header-declaration.js';
import { hidesText, isCut, plainText } from './plain-text.js';
import { boundsProblem, schemaProblem, withVisibleTexts } from './schema-check.js';

/** MCP 2026-07-28, "Tool Names", plus `/`. Models are shown other names under an alias. */
const USUAL_NAME = /^[A-Za-z0-9_./-]+$/;
/** One line of whole characters without a blank at its ends, which people would not see and some databases ignore. */
const TOOL_NAME = /^(?!\s)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]{1,128}(?<!\s)$/u;
const MAX_NAME = 128;
const MAX_TITLE = 255;
const MAX_DESCRIPTION = 16_000;

/** One entry of a tool list, judged. */
export type ParsedTool = { accepted: DiscoveredTool; warnings: ToolWarning[] } | { rejected: RejectedTool };

/**
 * Reads the tools of one list one by one, over all its pages. A bad tool is left out and reported, and never harms the others
 * (docs/contract.md, section 2.2). Of two tools with one name the first wins.
 */
export class ToolDefinitionParser {
  private readonly names = new Set<string>();

  /** @param removal takes out credentials that the server was sent; a tool with such a name cannot be called */
  constructor(
    private readonly limits: SchemaLimits,
    private readonly removal: () => SecretRemoval = () => SecretRemoval.none,
  ) {}

  /** @param entry anything a server put into `tools` */
  parse(entry: unknown): ParsedTool {
    if (!isObject(entry)) {
      return rejected('', 'not_an_object');
    }
    const removal = this.removal();
    const name = textWithout(removal, entry['name']);
    // A name that a secret was removed from is not the one by which the server knows the tool.
    if (typeof name !== 'string' || name !== entry['name'] || !isToolName(name)) {
      return rejected(name, 'invalid_name');
    }
    if (this.names.has(name)) {
      return rejected(name, 'duplicate_name');
    }
    const problem = this.problemOf(entry);
    if (problem !== undefined) {
      return rejected(name, problem);
    }
    this.names.add(name);
    const dropsOutput = this.dropsOutputSchema(entry['outputSchema']);
    const kept = dropsOutput ? { ...entry, outputSchema: null } : entry;
    const reasons = [...(dropsOutput ? ['output_schema_dropped' as const] : []), ...remarksOn(name, kept)];
    return {
      accepted: definitionOf(name, kept, removal),
      warnings: reasons.map((reason) => ({ name, reason })),
    };
  }

  private problemOf({ inputSchema, annotations }: Record<string, unknown>) {
    return this.inputProblem(inputSchema) ?? this.annotationsProblem(annotations);
  }

  private inputProblem(schema: unknown): RejectedToolReason | undefined {
    if (!isObject(schema) || (schema['type'] !== undefined && schema['type'] !== 'object')) {
      return 'invalid_input_schema';
    }
    const problem = schemaProblem(schema, this.limits);
    return problem ?? (hasValidHeaderDeclarations(schema) ? undefined : 'invalid_header_declaration');
  }

  /** Nothing here is checked against an output schema, so a bad one is no reason to lose the tool. */
  private dropsOutputSchema(schema: unknown): boolean {
    const isThere = schema !== undefined && schema !== null;
    return isThere && (!isObject(schema) || schemaProblem(schema, this.limits) !== undefined);
  }

  private annotationsProblem(annotations: unknown): RejectedToolReason | undefined {
    if (annotations === undefined || annotations === null) {
      return undefined;
    }
    const problem = isObject(annotations) ? boundsProblem(annotations, this.limits) : 'invalid_annotations';
    return problem === undefined || problem === 'hidden_characters' ? problem : 'invalid_annotations';
  }
}

function isToolName(name: string): boolean {
  return TOOL_NAME.test(name) && !hidesText(name);
}

function remarksOn(name: string, entry: Record<string, unknown>): ToolWarning['reason'][] {
  const { title, description, inputSchema, outputSchema, annotations, execution } = entry;
  const titles = [title, isObject(annotations) ? annotations['title'] : undefined];
  const found: Record<Exclude<ToolWarning['reason'], 'output_schema_dropped'>, boolean> = {
    name_needs_alias: !USUAL_NAME.test(name),
    title_cut: isCut(
      titles.find((text) => plainText(text, MAX_TITLE) !== ''),
      MAX_TITLE,
    ),
    description_cut: isCut(description, MAX_DESCRIPTION),
    hidden_characters_removed: hides([title, description, inputSchema, outputSchema, annotations]),
    // MCP 2025-11-25, "Tool-Level Negotiation".
    task_required: isObject(execution) && execution['taskSupport'] === 'required',
  };
  return TOOL_WARNING_REASONS.filter((reason) => reason !== 'output_schema_dropped' && found[reason]);
}

/** Whether any text of a checked definition has characters that are taken out. Recursive: for values of bounded depth. */
function hides(value: unknown): boolean {
  if (typeof value === 'string') {
    return hidesText(value);
  }
  return typeof value === 'object' && value !== null && Object.values(value).some(hides);
}

function definitionOf(
  name: string,
  { title, description, inputSchema, outputSchema, annotations }: Record<string, unknown>,
  removal: SecretRemoval,
) {
  const clean = (value: Record<string, unknown>) =>
    removal.json(value as JsonValue) as Record<string, unknown>;
  const hints = isObject(annotations) ? clean(annotations) : null;
  return {
    name,
    title:
      plainText(textWithout(removal, title), MAX_TITLE) || plainText(hints?.['title'], MAX_TITLE) || null,
    description: plainText(textWithout(removal, description), MAX_DESCRIPTION),
    inputSchema: withVisibleTexts(clean(inputSchema as Record<string, unknown>)),
    outputSchema: isObject(outputSchema) ? withVisibleTexts(clean(outputSchema)) : null,
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
