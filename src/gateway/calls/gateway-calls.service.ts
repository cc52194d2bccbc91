import { Injectable } from '@nestjs/common';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '#engine/json';
import type { Principal } from '../../platform/user/principal.js';
import {
  doubtOf,
  sentenceOf,
  type ToolCallResult,
} from '../../systems/mcp-connection/model/tool-call.types.js';
import { type NotMade, ReviewedCallsService } from '../../systems/tools/calling/reviewed-calls.service.js';
import { ToolCatalogueService } from '../catalogue/tool-catalogue.service.js';
import { gatewayLimits } from '../gateway.limits.js';

/** A call of a client of an endpoint. */
export interface GatewayCall {
  appId: string;
  /** Name in the list of the endpoint. */
  name: string;
  arguments: JsonObject;
  /** Aborted when the client cancels the call or disconnects. */
  signal: AbortSignal;
}

const NOT_AVAILABLE = 'The tool is not available. List the tools again.';

/** Calls tools for clients of MCP endpoints. Call it outside transactions. */
@Injectable()
export class GatewayCallsService {
  constructor(
    private readonly catalogue: ToolCatalogueService,
    private readonly calls: ReviewedCallsService,
  ) {}

  /**
   * Calls a tool once.
   * @returns the result, in which failures are errors of the tool, so that models can read them; undefined for a tool that the endpoint
   * does not offer
   * @throws ActiveBuildNotFoundError
   */
  async call(principal: Principal, call: GatewayCall): Promise<CallToolResult | undefined> {
    const { appId, name, arguments: args, signal } = call;
    const offered = await this.catalogue.find(appId, name);
    if (offered === undefined || !(await this.catalogue.isReady(appId, offered))) {
      return undefined;
    }
    const { inputSchema, definitionHash, name: toolName } = offered.tool;
    const result = await this.calls.call(principal, {
      key: offered.key,
      tool: { name: toolName, inputSchema, definitionHash },
      arguments: args,
      signal,
      maxImageBytes: gatewayLimits.imageBytes,
      isStillAllowed: () => this.catalogue.isReady(appId, offered),
    });
    return toMcpResult(result);
  }
}

function toMcpResult(result: ToolCallResult | NotMade): CallToolResult {
  if ('problem' in result) {
    return failure(`The arguments do not match the schema of the tool. ${result.problem}`);
  }
  if ('withdrawn' in result) {
    return failure(NOT_AVAILABLE);
  }
  if (result.outcome === 'failed') {
    const words = result.words === undefined ? '' : ` The server says: ${JSON.stringify(result.words)}`;
    return failure(`${sentenceOf(result)} ${doubtOf(result)}${words}`);
  }
  const { text, images = [], structured, isError } = result;
  return {
    content: [{ type: 'text', text }, ...images.map((image) => ({ type: 'image' as const, ...image }))],
    // The protocol allows only objects here.
    ...(isJsonObject(structured) ? { structuredContent: structured } : {}),
    ...(isError ? { isError } : {}),
  };
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
