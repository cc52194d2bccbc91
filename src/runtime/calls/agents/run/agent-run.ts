import type { JsonValue, JsonObject } from '#engine/json';
import type { ToolCallsService } from '../../../../systems/mcp-connection/calls/tool-calls.service.js';
import { CallKind, type CallResponse } from '../../workflows/model/call-journal.types.js';
import type { RunScope } from '../../workflows/model/node-executor.js';
import { CallNotMadeError, WorkflowFailedError } from '../../workflows/model/workflows.errors.js';
import { QuotaExceededError } from '../../../quotas/model/quotas.errors.js';
import { agentLimits } from '../agent.limits.js';
import type { AgentOptions } from './agent-prompt.js';
import type { AgentTools } from './agent-tools.js';
import { ModelCallError } from '../llm/model-call.error.js';
import type { ModelCallsService } from '../llm/model-calls.service.js';
import { imagesOf, type ModelMessage, type ModelTurn } from '../llm/model-client.types.js';
import type { ToolSteps } from './tool-step.js';
import type { CheckedText } from '#engine/json-schema';

const CHARACTERS_PER_TOKEN = 4;
/** Characters that one image counts as. */
const CHARACTERS_PER_IMAGE = 4_000;

interface AgentRunContext {
  readonly options: AgentOptions;
  /** See firstMessages. */
  readonly messages: readonly ModelMessage[];
  readonly tools: AgentTools;
  readonly steps: ToolSteps;
  readonly model: ModelCallsService;
  readonly toolCalls: ToolCallsService;
  readonly scope: Pick<RunScope, 'calls' | 'payer'>;
  /** Key of the node visit within the run. */
  readonly place: string;
  /** Maximum bytes of all base64 images in one request. */
  readonly maxImageBytes: number;
  readonly signal: AbortSignal;
  readonly traceparent: string;
}

/** Agent loop: think, act, observe, repeat (docs/process-semantics.md, section 14). Deterministic for the same journal. */
export class AgentRun {
  private messages: ModelMessage[];
  /** Number of messages already sent to the model. */
  private sentCount = 0;
  private tokens = 0;
  private repairs = 0;

  constructor(private readonly context: AgentRunContext) {
    this.messages = [...context.messages];
  }

  /**
   * @returns answer that matches the schema
   * @throws WorkflowFailedError when a limit is reached or the model fails; the reason of the signal
   */
  async answer(): Promise<JsonValue> {
    const { options, toolCalls } = this.context;
    const maxIterations = agentLimits.iterations;
    for (let turn = 1; turn <= maxIterations; turn += 1) {
      this.requireTokens();
      const reply = await this.ask(turn);
      if (reply.calls.length > 0) {
        await this.act(reply, turn);
        continue;
      }
      const answer = await readAnswer(reply.content, options.answerSchema, toolCalls);
      if ('value' in answer) {
        return answer.value;
      }
      this.repair(reply, answer.problem);
    }
    throw new WorkflowFailedError(
      'AGENT_ITERATION_LIMIT',
      `The agent has not answered within the limit of ${maxIterations} turns.`,
    );
  }

  private async ask(turn: number): Promise<ModelTurn> {
    const { scope, place, tools } = this.context;
    // The journal stores only the new messages of each request.
    const messages = this.messages.slice(this.sentCount).map(withoutImages) as unknown as JsonValue;
    this.sentCount = this.messages.length;
    const request = { messages, tools: tools.offered.map(({ name }) => name) };
    const { result } = await scope.calls.once(
      { key: `${place}/m${turn}`, kind: CallKind.Model, request, repeatable: true },
      () => this.callModel(),
    );
    const reply = result as unknown as ModelTurn;
    this.tokens += this.tokensOf(reply);
    return reply;
  }

  private async callModel(): Promise<CallResponse> {
    const { model, tools, options, scope, signal, traceparent } = this.context;
    const { messages } = this;
    const { answerSchema } = options;
    try {
      await model.requireTokenQuota(scope.payer);
      const turn = await model.ask({ messages, tools: tools.offered, answerSchema, signal, traceparent });
      model.charge(scope.payer, turn.usage, this.tokensOf(turn));
      return { outcome: 'OK', result: turn as unknown as JsonValue, usage: turn.usage };
    } catch (error) {
      if (error instanceof ModelCallError) {
        const message = `The language model did not answer: ${error.failure}.`;
        const context = { details: error.advice, cause: error };
        const failure = new WorkflowFailedError('AGENT_MODEL_FAILED', message, context);
        throw new CallNotMadeError(failure, error.failure);
      }
      if (error instanceof QuotaExceededError) {
        const message = `${error.message} ${error.details}`;
        throw new CallNotMadeError(new WorkflowFailedError('AGENT_TOKEN_QUOTA', message), error.code);
      }
      throw error;
    }
  }

  private async act(reply: ModelTurn, turn: number): Promise<void> {
    const maxCallsPerTurn = agentLimits.callsPerTurn;
    const { steps, place, maxImageBytes } = this.context;
    const calls = reply.calls.slice(0, maxCallsPerTurn);
    this.messages.push({ role: 'assistant', content: reply.content, calls });
    for (const [index, call] of calls.entries()) {
      const { content, images } = await steps.take(call, `${place}/m${turn}.t${index + 1}`);
      this.messages.push({ role: 'tool', callId: call.id, content, ...(images.length > 0 && { images }) });
    }
    this.messages = withNewestImages(this.messages, maxImageBytes);
    if (calls.length < reply.calls.length) {
      const content = `Only the first ${calls.length} of your ${reply.calls.length} calls were made; ask for fewer at a time.`;
      this.messages.push({ role: 'user', content });
    }
  }

  private repair(reply: ModelTurn, problem: string): void {
    const maxRepairs = agentLimits.repairs;
    this.repairs += 1;
    if (this.repairs > maxRepairs) {
      throw new WorkflowFailedError(
        'AGENT_ANSWER_INVALID',
        `The answer of the agent does not match its schema, even after ${maxRepairs} repairs.`,
        { details: problem },
      );
    }
    this.messages.push(
      { role: 'assistant', content: reply.content ?? '', calls: [] },
      {
        role: 'user',
        content: `The answer does not match its JSON Schema. ${problem}\nAnswer again with the JSON value alone.`,
      },
    );
  }

  private requireTokens(): void {
    const maxTokens = agentLimits.tokens;
    if (this.tokens >= maxTokens) {
      throw new WorkflowFailedError(
        'AGENT_TOKEN_LIMIT',
        `The agent has used up ${this.tokens} tokens: the limit is ${maxTokens}.`,
      );
    }
  }

  /** Returns the tokens reported by the model, or estimates them from the length of the texts. */
  private tokensOf({ usage, content, calls }: ModelTurn): number {
    const written = [content ?? '', ...calls.map((call) => call.arguments)].join('').length;
    const sent = this.messages.reduce((sum, message) => sum + lengthOf(message), 0);
    return (
      (usage.inputTokens ?? Math.ceil(sent / CHARACTERS_PER_TOKEN)) +
      (usage.outputTokens ?? Math.ceil(written / CHARACTERS_PER_TOKEN))
    );
  }
}

/** Returns a message as stored in the journal. */
function withoutImages(message: ModelMessage): ModelMessage {
  if (message.role !== 'tool') {
    return message;
  }
  const { images: _images, ...rest } = message;
  return rest;
}

/** Removes images of the oldest results if all images exceed the limit of one request. */
function withNewestImages(messages: readonly ModelMessage[], maxBytes: number): ModelMessage[] {
  let left = maxBytes;
  return messages
    .toReversed()
    .map((message) => {
      left -= imagesOf(message).reduce((sum, { data }) => sum + data.length, 0);
      return left < 0 ? withoutImages(message) : message;
    })
    .toReversed();
}

function lengthOf(message: ModelMessage): number {
  return (message.content ?? '').length + imagesOf(message).length * CHARACTERS_PER_IMAGE;
}

const FENCE = '```';

/**
 * Parses and validates the final answer of a model: JSON, optionally in a code block.
 * @throws Error when the validator itself failed, so that the run is retried from here
 */
export async function readAnswer(
  content: string | null,
  schema: JsonObject,
  toolCalls: Pick<ToolCallsService, 'checkAnswer'>,
): Promise<CheckedText> {
  const text = unfenced((content ?? '').trim());
  const read = await toolCalls.checkAnswer({ text, schema });
  if (!('outcome' in read)) {
    return read;
  }
  if (read.cause !== 'arguments_unchecked') {
    throw new Error('The answer of the model could not be validated.');
  }
  return { problem: 'Validating it against its JSON Schema takes too long.' };
}

/** Returns the text in a code block. Avoids a regular expression, which would be very slow for some texts. */
function unfenced(text: string): string {
  const start = text.indexOf('\n') + 1;
  const end = text.length - FENCE.length;
  const isFenced = text.startsWith(FENCE) && text.endsWith(FENCE) && start > 0 && start <= end;
  return isFenced ? text.slice(start, end) : text;
}
