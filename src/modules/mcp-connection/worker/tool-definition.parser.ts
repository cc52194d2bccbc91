import type { JsonValue } from '../../../common/json.js';
import type { SchemaLimits } from '../model/tool-list-limits.js';
import { SecretRemoval } from '../../../common/secrets/secret-removal.js';
import type { DiscoveredTool, RejectedTool, RejectedToolReason } from '../model/connection-test.types.js';
import { hasValidHeaderDeclarations } from './header-declaration.js';
import { plainText } from './plain-text.js';
import { boundsProblem, schemaProblem, withVisibleTexts } from './schema-check.js';

/** A name an agent's model can be shown; MCP 2026-07-28 plus `/`, which deployed servers use. */
const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;
const MAX_NAME = 128;
const MAX_TITLE = 255;
const MAX_DESCRIPTION = 16_000;

/** One entry of a tool list, judged. */
export type ParsedTool = { accepted: DiscoveredTool } | { rejected: RejectedTool };

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
    if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
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
    return { accepted: definitionOf(name, entry, removal) };
  }

  private problemOf({ inputSchema, outputSchema, annotations }: Record<string, unknown>) {
    return (
      this.inputProblem(inputSchema) ??
      this.outputProblem(outputSchema) ??
      this.annotationsProblem(annotations)
    );
  }

  private inputProblem(schema: unknown): RejectedToolReason | undefined {
    if (!isObject(schema) || (schema['type'] !== undefined && schema['type'] !== 'object')) {
      return 'invalid_input_schema';
    }
    const problem = schemaProblem(schema, this.limits);
    return problem ?? (hasValidHeaderDeclarations(schema) ? undefined : 'invalid_header_declaration');
  }

  private outputProblem(schema: unknown): RejectedToolReason | undefined {
    if (schema === undefined || schema === null) {
      return undefined;
    }
    return isObject(schema) ? schemaProblem(schema, this.limits) : 'invalid_output_schema';
  }

  private annotationsProblem(annotations: unknown): RejectedToolReason | undefined {
    if (annotations === undefined || annotations === null) {
      return undefined;
    }
    const problem = isObject(annotations) ? boundsProblem(annotations, this.limits) : 'invalid_annotations';
    return problem === undefined || problem === 'hidden_characters' ? problem : 'invalid_annotations';
  }
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
