import type { JsonObject, JsonValue } from '#engine/json';
import type { ToolCallsService } from '../../../../systems/mcp-connection/calls/tool-calls.service.js';
import {
  doubtOf,
  sentenceOf,
  type ToolAnswer,
  type ToolCallFailure,
  type ToolCallFailureCause,
  type ToolImage,
} from '../../../../systems/mcp-connection/model/tool-call.types.js';
import { mcpCallLimits } from '../../../../systems/mcp-connection/mcp.limits.js';
import type { SystemConnectionsService } from '../../../../systems/lookups/system-connections.service.js';
import { CallKind, type CallJournal, type CallResponse } from '../../workflows/model/call-journal.types.js';
import { CallNotMadeError, CallOutcomeUnknownError } from '../../workflows/model/workflows.errors.js';
import type { AgentTool, AgentTools } from './agent-tools.js';
import type { RequestedCall } from '../llm/model-client.types.js';
import { ResolvedToolState } from '../resolution/resolution.types.js';
import type { SystemResolutionService } from '../resolution/system-resolution.service.js';

const NAME_MAX_LENGTH = 128;

/** Reasons why a tool is not called, for the model and for people. */
const NOT_READY: Readonly<Record<Exclude<ResolvedToolState, ResolvedToolState.Ready>, string>> = {
  [ResolvedToolState.Gone]: 'The server no longer offers this tool.',
  [ResolvedToolState.Changed]: 'The tool was disabled because it has changed since it was reviewed.',
  [ResolvedToolState.DisabledInBuild]: 'The tool was disabled when the build was made.',
  [ResolvedToolState.Disabled]: 'The tool was disabled by an administrator.',
};

/** Failures after an answer of the server, so the call has completed. */
const ANSWERED: ReadonlySet<ToolCallFailureCause> = new Set([
  'result_too_large',
  'too_large',
  'invalid_result',
  'mcp_error',
]);

interface ToolStepPorts {
  readonly toolCalls: Pick<ToolCallsService, 'callTool' | 'checkArguments'>;
  readonly connections: Pick<SystemConnectionsService, 'byId'>;
  readonly resolution: Pick<SystemResolutionService, 'stateNow'>;
}

/** Shared context of the tool steps of one agent. */
interface ToolStepContext {
  readonly tools: AgentTools;
  readonly calls: CallJournal;
  readonly signal: AbortSignal;
  readonly traceparent: string;
  /** Maximum bytes of the base64 images of one result. */
  readonly maxImageBytes: number;
  /** Called with the outcome of each step that did not come from the journal. */
  readonly onOutcome: (outcome: string) => void;
}

/** Result of a call as shown to the model. */
export interface Observation {
  readonly outcome: string;
  readonly content: string;
  /** Not stored, so a call from the journal has none. */
  readonly images: readonly ToolImage[];
}

/** Response with the images of the tool. */
type ToolResponse = CallResponse & Partial<Pick<Observation, 'images'>>;

/** How to handle a requested call. */
interface Plan {
  readonly found: AgentTool | undefined;
  readonly args: JsonValue;
  readonly repeatable: boolean;
  readonly make: () => Promise<ToolResponse>;
}

/** Makes the calls requested by the model. Errors of the model or a tool are observations, not failures. */
export class ToolSteps {
  constructor(
    private readonly ports: ToolStepPorts,
    private readonly context: ToolStepContext,
  ) {}

  /**
   * Makes a tool call, or returns the journal's response. Only repeatable calls are made again after a crash.
   * @param key see OutsideCall.key
   * @throws WorkflowFailedError when the outcome of an earlier attempt is unknown, or the reason of the signal
   */
  async take(call: RequestedCall, key: string): Promise<Observation> {
    const { make, repeatable, args, found } = await this.planOf(call);
    let images: readonly ToolImage[] = [];
    const { outcome, result } = await this.context.calls.once(
      { key, kind: CallKind.Tool, request: requestOf(call, found, args), repeatable },
      async () => {
        const { images: shown = [], ...response } = await make();
        this.context.onOutcome(response.outcome);
        images = shown;
        return response;
      },
    );
    return { outcome, content: JSON.stringify(result), images };
  }

  /** Plans a call. The flag of the tool is checked last, and again if the call has to wait for others. */
  private async planOf(call: RequestedCall): Promise<Plan> {
    const found = this.context.tools.find(call.name);
    if (found === undefined) {
      return refusedPlan(call, undefined, errorResponse('UNKNOWN_TOOL', 'There is no tool with this name.'));
    }
    const schema = found.tool.inputSchema as JsonObject;
    const read = await this.ports.toolCalls.checkArguments({ text: call.arguments, schema });
    if ('outcome' in read) {
      const make = (): Promise<CallResponse> =>
        Promise.resolve(failureResponse(read, this.context.signal, true));
      return { found, args: call.arguments, repeatable: true, make };
    }
    if ('problem' in read) {
      const error = `The arguments do not match the schema of the tool. ${read.problem}`;
      return refusedPlan(call, found, errorResponse('ARGUMENTS_INVALID', error));
    }
    const args = read.value;
    const state = await this.ports.resolution.stateNow(found.tool);
    if (state !== ResolvedToolState.Ready) {
      return { ...refusedPlan(call, found, errorResponse(`TOOL_${state}`, NOT_READY[state])), args };
    }
    const repeatable = isRepeatable(found);
    return { found, args, repeatable, make: () => this.callTool(found, args as JsonObject, repeatable) };
  }

  private async callTool(
    { system, tool }: AgentTool,
    args: JsonObject,
    repeatable: boolean,
  ): Promise<ToolResponse> {
    const { signal, traceparent, maxImageBytes } = this.context;
    const connection = await beforeCall(this.ports.connections.byId(system.systemId));
    if (connection === null) {
      return errorResponse('SYSTEM_GONE', 'The system of this tool no longer exists.');
    }
    const { timeoutMs = mcpCallLimits.defaultTimeoutMs, ...access } = connection;
    const { name, inputSchema, definitionHash } = tool;
    let state = ResolvedToolState.Ready as ResolvedToolState;
    const result = await this.ports.toolCalls.callTool({
      systemId: system.systemId,
      ...access,
      tool: { name, inputSchema, definitionHash },
      arguments: args,
      deadlineMs: timeoutMs,
      maxImageBytes,
      traceparent,
      signal,
      isStillAllowed: async () => {
        state = await beforeCall(this.ports.resolution.stateNow(tool));
        return state === ResolvedToolState.Ready;
      },
    });
    if (result.outcome === 'answered') {
      return answerResponse(result);
    }
    return state === ResolvedToolState.Ready
      ? failureResponse(result, signal, repeatable)
      : errorResponse(`TOOL_${state}`, NOT_READY[state]);
  }
}

/** Reads something between claim and call. If this fails nothing was sent, so a later attempt may make the call. */
async function beforeCall<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    throw new CallNotMadeError(error instanceof Error ? error : new Error('The read failed.'));
  }
}

/** Returns the plan for a call that is not made; the model gets the reason. */
function refusedPlan(call: RequestedCall, found: AgentTool | undefined, response: CallResponse): Plan {
  return { found, args: call.arguments, repeatable: true, make: () => Promise.resolve(response) };
}

/** @param words untrusted text of the server, kept separate from the service's own message */
function errorResponse(outcome: string, error: string, words?: string): CallResponse {
  return { outcome, result: { ok: false, error, ...(words === undefined ? {} : { serverSays: words }) } };
}

/**
 * Returns the response for a call without an answer.
 * @throws CallNotMadeError, or the reason of the signal, when the run was stopped rather than the call
 * @throws CallOutcomeUnknownError when the tool may have run and must not be called twice
 */
function failureResponse(failure: ToolCallFailure, signal: AbortSignal, repeatable: boolean): CallResponse {
  const { cause, sent } = failure;
  if (cause === 'cancelled' || cause === 'stopping') {
    const reason = signal.aborted ? (signal.reason as Error) : new Error('The service is stopping.');
    throw sent === 'never' ? new CallNotMadeError(reason, 'CANCELLED') : reason;
  }
  if (sent === 'maybe' && !repeatable && !ANSWERED.has(cause)) {
    throw new CallOutcomeUnknownError(sentenceOf(failure), cause.toUpperCase());
  }
  return errorResponse(cause.toUpperCase(), `${sentenceOf(failure)} ${doubtOf(failure)}`, failure.words);
}

function answerResponse({ isError, text, structured, images = [] }: ToolAnswer): ToolResponse {
  const maxResultBytes = mcpCallLimits.maxShownBytes;
  const shown = text === '' && structured !== null ? JSON.stringify(structured) : text;
  const bytes = Buffer.byteLength(shown);
  if (bytes > maxResultBytes) {
    const error = `The result has ${bytes} bytes; at most ${maxResultBytes} can be shown. Ask for less.`;
    return errorResponse('RESULT_TOO_LARGE', error);
  }
  return { outcome: isError ? 'TOOL_ERROR' : 'OK', result: { ok: !isError, result: shown }, images };
}

function requestOf({ name }: RequestedCall, found: AgentTool | undefined, args: JsonValue): JsonValue {
  return found === undefined
    ? { name: name.slice(0, NAME_MAX_LENGTH), arguments: args }
    : { name: found.name, system: found.system.resourceName, tool: found.tool.name, arguments: args };
}

/** Whether the reviewed definition says that a call is safe to repeat (MCP, "Tool annotations"). */
function isRepeatable({ tool: { annotations } }: AgentTool): boolean {
  return annotations?.['readOnlyHint'] === true || annotations?.['idempotentHint'] === true;
}
