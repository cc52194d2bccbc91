import type { JsonValue } from '../../../common/json.js';
import {
  CallKind,
  type CallJournal,
  type CallResponse,
  type CallUsage,
} from '../../workflows/model/call-journal.types.js';
import { CallNotMadeError, WorkflowFailedError } from '../../workflows/model/workflows.errors.js';
import type { CheckedText } from '../../../language/json-schema/checked-text.js';
import { QuotaExceededError } from '../../quotas/model/quotas.errors.js';
import { agentLimits } from '../agent.limits.js';
import type { AgentOptions } from './agent-prompt.js';
import type { AgentTools } from './agent-tools.js';
import { ModelCallError } from '../llm/model-call.error.js';
import type { ModelCallsService } from '../llm/model-calls.service.js';
import type { ModelMessage, ModelTurn, RequestedCall } from '../llm/model-client.types.js';
import type { Observation } from './tool-step.js';

const CHARACTERS_PER_TOKEN = 4;
/** An image counts as much text. */
const CHARACTERS_PER_IMAGE = 4_000;

/** What one agent works with. */
export interface AgentRunContext {
  readonly options: AgentOptions;
  /** See firstMessages. */
  readonly messages: readonly ModelMessage[];
  readonly tools: AgentTools;
  readonly model: Pick<ModelCallsService, 'ask'>;
  /** Makes one call of a tool, see ToolSteps.take. */
  readonly act: (call: RequestedCall, key: string) => Promise<Observation>;
  /** Reads the final answer, see readAnswer. */
  readonly read: (content: string | null) => Promise<CheckedText>;
  readonly calls: CallJournal;
  /** Names the visit of the node within the run. */
  readonly place: string;
  /** Bytes of base64 of all images in one question. */
  readonly maxImageBytes: number;
  readonly signal: AbortSignal;
  readonly traceparent: string;
  /** Called before the model is asked. Throws QuotaExceededError when its tokens are used up. */
  readonly demandTokens: () => Promise<void>;
  /** Called for each answer of the model that was not read from the journal, with its tokens, estimated where the model does not count. */
  readonly counted: (usage: CallUsage, tokens: number) => void;
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
    const maxIterations = agentLimits.iterations;
    for (let turn = 1; turn <= maxIterations; turn += 1) {
      this.requireTokens();
      const reply = await this.ask(turn);
      if (reply.calls.length > 0) {
        await this.act(reply, turn);
        continue;
      }
      const answer = await this.context.read(reply.content);
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
    const { calls, place } = this.context;
    const news = this.messages.slice(this.seen);
    this.seen = this.messages.length;
    const { result } = await calls.once(
      { key: `${place}/m${turn}`, kind: CallKind.Model, request: this.requestOf(news), repeatable: true },
      () => this.made(),
    );
    const reply = result as unknown as ModelTurn;
    this.tokens += this.tokensOf(reply);
    return reply;
  }

  /** The trace of a question: only its new messages. */
  private requestOf(news: readonly ModelMessage[]): JsonValue {
    const tools = this.context.tools.offered.map(({ name }) => name);
    return { messages: news.map(withoutImages) as unknown as JsonValue, tools };
  }

  private async made(): Promise<CallResponse> {
    const { model, tools, options, signal, traceparent } = this.context;
    const { messages } = this;
    const { answerSchema } = options;
    try {
      await this.context.demandTokens();
      const turn = await model.ask({ messages, tools: tools.offered, answerSchema, signal, traceparent });
      this.context.counted(turn.usage, this.tokensOf(turn));
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
    const { maxImageBytes } = this.context;
    const calls = reply.calls.slice(0, maxCallsPerTurn);
    this.messages.push({ role: 'assistant', content: reply.content, calls });
    for (const [index, call] of calls.entries()) {
      const { content, images } = await this.context.act(
        call,
        `${this.context.place}/m${turn}.t${index + 1}`,
      );
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
      const images = message.role === 'tool' ? (message.images ?? []) : [];
      left -= images.reduce((sum, { data }) => sum + data.length, 0);
      return left < 0 ? withoutImages(message) : message;
    })
    .toReversed();
}

function lengthOf(message: ModelMessage): number {
  const images = message.role === 'tool' ? (message.images ?? []) : [];
  return (message.content ?? '').length + images.length * CHARACTERS_PER_IMAGE;
}
