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
/** An image counts as much text. */
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
  /** Names the visit of the node within the run. */
  readonly place: string;
  /** Bytes of base64 of all images in one question. */
  readonly maxImageBytes: number;
  readonly signal: AbortSignal;
  readonly traceparent: string;
}

/** Think, act, observe, repeat (docs/process-semantics.md, section 14). An equal journal takes equal steps. */
export class AgentRun {
  private messages: ModelMessage[];
  /** Messages that the model has seen. */
  private seen = 0;
  private tokens = 0;
  private repairs = 0;

  constructor(private readonly context: AgentRunContext) {
    this.messages = [...context.messages];
  }

  /**
   * @returns the answer, as its schema says
   * @throws WorkflowFailedError when a limit is reached or the model cannot be asked; the reason of the signal
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
      `The agent has not answered after ${maxIterations} turns, and may take no more.`,
    );
  }

  private async ask(turn: number): Promise<ModelTurn> {
    const { scope, place, tools } = this.context;
    // The trace of a question has only its new messages.
    const messages = this.messages.slice(this.seen).map(withoutImages) as unknown as JsonValue;
    this.seen = this.messages.length;
    const request = { messages, tools: tools.offered.map(({ name }) => name) };
    const { result } = await scope.calls.once(
      { key: `${place}/m${turn}`, kind: CallKind.Model, request, repeatable: true },
      () => this.made(),
    );
    const reply = result as unknown as ModelTurn;
    this.tokens += this.tokensOf(reply);
    return reply;
  }

  private async made(): Promise<CallResponse> {
    const { model, tools, options, scope, signal, traceparent } = this.context;
    const { messages } = this;
    const { answerSchema } = options;
    try {
      await model.demandTokens(scope.payer);
      const turn = await model.ask({ messages, tools: tools.offered, answerSchema, signal, traceparent });
      model.charge(scope.payer, turn.usage, this.tokensOf(turn));
      return { outcome: 'OK', result: turn as unknown as JsonValue, usage: turn.usage };
    } catch (error) {
      if (error instanceof ModelCallError) {
        const message = `The language model did not answer: ${error.failure}.`;
        const told = { details: error.advice, cause: error };
        const failure = new WorkflowFailedError('AGENT_MODEL_FAILED', message, told);
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
        `The answer of the agent is not as its schema says, also after ${maxRepairs} repairs.`,
        { details: problem },
      );
    }
    this.messages.push(
      { role: 'assistant', content: reply.content ?? '', calls: [] },
      {
        role: 'user',
        content: `This answer is not what the JSON Schema of the answer allows. ${problem}\nAnswer again with the JSON value alone.`,
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

  /** As the model counts. Where it does not, by the length of the texts to and fro. */
  private tokensOf({ usage, content, calls }: ModelTurn): number {
    const written = [content ?? '', ...calls.map((call) => call.arguments)].join('').length;
    const asked = this.messages.reduce((sum, message) => sum + lengthOf(message), 0);
    return (
      (usage.inputTokens ?? Math.ceil(asked / CHARACTERS_PER_TOKEN)) +
      (usage.outputTokens ?? Math.ceil(written / CHARACTERS_PER_TOKEN))
    );
  }
}

/** What the trace keeps. */
function withoutImages(message: ModelMessage): ModelMessage {
  if (message.role !== 'tool') {
    return message;
  }
  const { images: _images, ...rest } = message;
  return rest;
}

/** Removes the images of the oldest results where all of them are too large for one question. */
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
 * Reads the final answer of a model: JSON that the schema of the node allows, where need be out of a code block.
 * @throws Error when nobody could look at it, for a reason that is not the answer's: the run is tried again, and goes on there
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
    throw new Error('The answer of the model could not be held against its schema.');
  }
  return { problem: 'To hold it against its JSON Schema takes too long.' };
}

/** The text in a code block; without a regular expression, which takes very long for some texts. */
function unfenced(text: string): string {
  const start = text.indexOf('\n') + 1;
  const end = text.length - FENCE.length;
  const isFenced = text.startsWith(FENCE) && text.endsWith(FENCE) && start > 0 && start <= end;
  return isFenced ? text.slice(start, end) : text;
}
