import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#engine/json';
import type { Principal } from '../../../platform/user/principal.js';
import { Env } from '../../../platform/config/env.js';
import { Database } from '../../../store/database.js';
import { AuditAction, AuditOutcome } from '../../../audit/model/audit.types.js';
import { AuditService } from '../../../audit/recording/audit.service.js';
import { ToolCallsService } from '../../mcp-connection/calls/tool-calls.service.js';
import { sentenceOf, type ToolCallResult } from '../../mcp-connection/model/tool-call.types.js';
import { mcpCallLimits } from '../../mcp-connection/mcp.limits.js';
import { SystemConnectionsService } from '../../lookups/system-connections.service.js';
import { auditOutcome } from '../connection-tests/connection-test.service.js';
import type { ToolKey } from '../model/tool.types.js';
import {
  ArgumentsInvalidError,
  ToolCallsOffError,
  ToolDisabledError,
  ToolNotFoundError,
} from '../model/tools.errors.js';
import type { ToolEntity } from '../storage/tool.entity.js';
import { ToolsRepository } from '../storage/tools.repository.js';
import { HandCallOutcome, type ToolCallResponseDto } from './tool-call.dto.js';

/** Calls tools by hand under the same rules as agents do. Call it outside transactions. */
@Injectable()
export class HandCallsService {
  constructor(
    private readonly env: Env,
    private readonly database: Database,
    private readonly tools: ToolsRepository,
    private readonly connections: SystemConnectionsService,
    private readonly toolCalls: ToolCallsService,
    private readonly audit: AuditService,
  ) {}

  /** Calls a tool once. @throws ToolCallsOffError, ToolNotFoundError, ToolDisabledError, ArgumentsInvalidError */
  async call(principal: Principal, key: ToolKey, args: JsonObject): Promise<ToolCallResponseDto> {
    if (!this.env.get('TOOL_CALLS')) {
      throw new ToolCallsOffError();
    }
    const { inputSchema } = await this.findEnabled(key);
    // The schema is untrusted, so a worker thread checks the arguments.
    const checked = await this.toolCalls.checkArguments({
      text: JSON.stringify(args),
      schema: inputSchema,
    });
    if ('problem' in checked) {
      throw new ArgumentsInvalidError(checked.problem);
    }
    // The check can take seconds, and the tool may have been disabled in the meantime.
    const tool = await this.findEnabled(key);
    const result = 'outcome' in checked ? checked : await this.send(principal, key, tool, args);
    const event = eventOf(key, tool, args);
    const { latencyMs } = result;
    const outcome =
      result.outcome === 'answered'
        ? { isError: result.isError, bytes: result.bytes }
        : { cause: result.cause, sent: result.sent };
    await this.audit.recordAlone(principal, {
      ...event,
      action: AuditAction.ToolCall,
      outcome: outcomeOf(result),
      details: { ...event.details, latencyMs, ...outcome },
    });
    return toResponse(result);
  }

  private async findEnabled({ systemId, toolId }: ToolKey): Promise<ToolEntity> {
    const tool = await this.find(systemId, toolId);
    if (tool === null) {
      throw new ToolNotFoundError();
    }
    if (!tool.enabled) {
      throw new ToolDisabledError();
    }
    return tool;
  }

  private find(systemId: string, toolId: string): Promise<ToolEntity | null> {
    return this.database.read((manager) => this.tools.findPresent(manager, systemId, toolId));
  }

  private async send(
    principal: Principal,
    key: ToolKey,
    tool: ToolEntity,
    args: JsonObject,
  ): Promise<ToolCallResult> {
    const { systemId, toolId } = key;
    const { name, inputSchema, definitionHash } = tool;
    const connection = await this.connections.byId(systemId);
    if (connection === null) {
      throw new ToolNotFoundError();
    }
    const { timeoutMs = mcpCallLimits.defaultTimeoutMs, ...access } = connection;
    // Recorded before the call, because the process may end before it has an answer.
    const begun = { ...eventOf(key, tool, args), action: AuditAction.ToolCallBegin };
    await this.audit.recordBegin(principal, begun);
    return this.toolCalls.callTool({
      systemId,
      ...access,
      tool: { name, inputSchema, definitionHash },
      arguments: args,
      deadlineMs: timeoutMs,
      isStillAllowed: async () => {
        const now = await this.find(systemId, toolId);
        return now?.enabled === true && now.definitionHash === definitionHash;
      },
    });
  }
}

const NAMES_KEPT = 50;
const NAME_LENGTH_KEPT = 64;
/** Half of a surrogate pair, which JSON columns reject. */
const HALF_CHARACTER = /\p{Surrogate}/gu;

/** Returns the common part of audit events. Stores only the names of arguments, because values can be personal data. */
function eventOf({ appId, appVersionId, resourceId, toolId }: ToolKey, tool: ToolEntity, args: JsonObject) {
  const names = Object.keys(args)
    .slice(0, NAMES_KEPT)
    .map((name) => [...name.replaceAll(HALF_CHARACTER, '\uFFFD')].slice(0, NAME_LENGTH_KEPT).join(''));
  const details = { tool: tool.name, arguments: names };
  return { appId, appVersionId, systemResourceId: resourceId, toolId, details };
}

function outcomeOf(result: ToolCallResult): AuditOutcome {
  if (result.outcome === 'failed') {
    return auditOutcome(result.cause);
  }
  return result.isError ? AuditOutcome.Error : AuditOutcome.Ok;
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
