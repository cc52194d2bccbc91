import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#engine/json';
import type { Principal } from '../../../platform/user/principal.js';
import { AuditAction, AuditOutcome } from '../../../audit/model/audit.types.js';
import { AuditService } from '../../../audit/recording/audit.service.js';
import { ToolCallsService } from '../../mcp-connection/calls/tool-calls.service.js';
import type {
  CalledTool,
  ToolCallRequest,
  ToolCallResult,
} from '../../mcp-connection/model/tool-call.types.js';
import { mcpCallLimits } from '../../mcp-connection/mcp.limits.js';
import { SystemConnectionsService } from '../../lookups/system-connections.service.js';
import { auditOutcome } from '../connection-tests/connection-test.service.js';
import type { ToolKey } from '../model/tool.types.js';

/** A call of a tool by a person or by an agent outside the service. */
export interface ReviewedCall extends Pick<ToolCallRequest, 'signal' | 'maxImageBytes'> {
  key: ToolKey;
  tool: CalledTool;
  arguments: JsonObject;
  /** Checked again after each wait: whether the tool is still enabled with this definition. */
  isStillAllowed: () => Promise<boolean>;
}

/** Why a call was not made. */
export type NotMade = { problem: string } | { withdrawn: true };

/**
 * Calls tools for callers of the service under the same rules as agents of workflows do: arguments match the reviewed schema, the tool is
 * enabled at the moment of the call, and an audit event is stored before and after it. Call it outside transactions.
 */
@Injectable()
export class ReviewedCallsService {
  constructor(
    private readonly connections: SystemConnectionsService,
    private readonly toolCalls: ToolCallsService,
    private readonly audit: AuditService,
  ) {}

  /** Calls a tool once. Never throws because of an external party. */
  async call(principal: Principal, call: ReviewedCall): Promise<ToolCallResult | NotMade> {
    // The schema is untrusted, so a worker thread checks the arguments.
    const checked = await this.toolCalls.checkArguments({
      text: JSON.stringify(call.arguments),
      schema: call.tool.inputSchema,
    });
    if ('problem' in checked) {
      return checked;
    }
    // The check can take seconds, and the tool may have been disabled in the meantime.
    const connection = (await call.isStillAllowed()) ? await this.connections.byId(call.key.systemId) : null;
    if (connection === null) {
      return { withdrawn: true };
    }
    const result = 'outcome' in checked ? checked : await this.send(principal, call, connection);
    const event = eventOf(call);
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
    return result;
  }

  private async send(
    principal: Principal,
    call: ReviewedCall,
    connection: NonNullable<Awaited<ReturnType<SystemConnectionsService['byId']>>>,
  ): Promise<ToolCallResult> {
    const { timeoutMs = mcpCallLimits.defaultTimeoutMs, ...access } = connection;
    const { key, tool, arguments: args, isStillAllowed, signal, maxImageBytes } = call;
    // Recorded before the call, because the process may end before it has an answer.
    await this.audit.recordBegin(principal, { ...eventOf(call), action: AuditAction.ToolCallBegin });
    return this.toolCalls.callTool({
      systemId: key.systemId,
      ...access,
      tool,
      arguments: args,
      deadlineMs: timeoutMs,
      isStillAllowed,
      ...(signal === undefined ? {} : { signal }),
      ...(maxImageBytes === undefined ? {} : { maxImageBytes }),
    });
  }
}

const NAMES_KEPT = 50;
const NAME_LENGTH_KEPT = 64;
/** Half of a surrogate pair, which JSON columns reject. */
const HALF_CHARACTER = /\p{Surrogate}/gu;

/** Returns the common part of audit events. Stores only the names of arguments, because values can be personal data. */
function eventOf({ key: { appId, appVersionId, resourceId, toolId }, tool, arguments: args }: ReviewedCall) {
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
