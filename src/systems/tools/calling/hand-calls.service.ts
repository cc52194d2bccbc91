import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#engine/json';
import type { Principal } from '../../../platform/user/principal.js';
import { Env } from '../../../platform/config/env.js';
import { Database } from '../../../store/database.js';
import { sentenceOf, type ToolCallResult } from '../../mcp-connection/model/tool-call.types.js';
import { mcpCallLimits } from '../../mcp-connection/mcp.limits.js';
import type { ToolKey } from '../model/tool.types.js';
import {
  ArgumentsInvalidError,
  ToolCallsOffError,
  ToolDisabledError,
  ToolNotFoundError,
} from '../model/tools.errors.js';
import type { ToolEntity } from '../storage/tool.entity.js';
import { ToolsRepository } from '../storage/tools.repository.js';
import { ReviewedCallsService } from './reviewed-calls.service.js';
import { HandCallOutcome, type ToolCallResponseDto } from './tool-call.dto.js';

/** Calls tools by hand under the same rules as agents do. Call it outside transactions. */
@Injectable()
export class HandCallsService {
  constructor(
    private readonly env: Env,
    private readonly database: Database,
    private readonly tools: ToolsRepository,
    private readonly calls: ReviewedCallsService,
  ) {}

  /** Calls a tool once. @throws ToolCallsOffError, ToolNotFoundError, ToolDisabledError, ArgumentsInvalidError */
  async call(principal: Principal, key: ToolKey, args: JsonObject): Promise<ToolCallResponseDto> {
    if (!this.env.get('TOOL_CALLS')) {
      throw new ToolCallsOffError();
    }
    const { name, inputSchema, definitionHash } = await this.findEnabled(key);
    const result = await this.calls.call(principal, {
      key,
      tool: { name, inputSchema, definitionHash },
      arguments: args,
      isStillAllowed: async () => {
        const now = await this.find(key);
        return now?.enabled === true && now.definitionHash === definitionHash;
      },
    });
    if ('problem' in result) {
      throw new ArgumentsInvalidError(result.problem);
    }
    if ('withdrawn' in result) {
      await this.findEnabled(key);
      throw new ToolNotFoundError();
    }
    return toResponse(result);
  }

  private async findEnabled(key: ToolKey): Promise<ToolEntity> {
    const tool = await this.find(key);
    if (tool === null) {
      throw new ToolNotFoundError();
    }
    if (!tool.enabled) {
      throw new ToolDisabledError();
    }
    return tool;
  }

  private find({ systemId, toolId }: ToolKey): Promise<ToolEntity | null> {
    return this.database.read((manager) => this.tools.findPresent(manager, systemId, toolId));
  }
}

function toResponse(result: ToolCallResult): ToolCallResponseDto {
  const { latencyMs } = result;
  const failed = { outcome: HandCallOutcome.Failed, text: '', structured: null, latencyMs };
  if (result.outcome === 'failed') {
    const { sent, words: text = '' } = result;
    return { ...failed, message: sentenceOf(result), mayHaveRun: sent === 'maybe', text };
  }
  const { isError, text, structured } = result;
  const maxBytes = mcpCallLimits.maxShownBytes;
  const bytes = Buffer.byteLength(structured === null ? text : text + JSON.stringify(structured));
  if (bytes > maxBytes) {
    const message = `The result has ${bytes} bytes; at most ${maxBytes} can be shown. Ask for less.`;
    return { ...failed, message, mayHaveRun: true };
  }
  const outcome = isError ? HandCallOutcome.ToolError : HandCallOutcome.Ok;
  return { outcome, message: null, mayHaveRun: null, text, structured, latencyMs };
}
