import { Injectable } from '@nestjs/common';
import OpenAI, { APIError } from 'openai';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { z } from 'zod';
import { operatorClient } from '../../../../platform/outbound/configured-outbound.js';
import type { OutboundClient } from '../../../../platform/outbound/outbound.client.js';
import { OutboundError, type OutboundFailure } from '../../../../platform/outbound/outbound.error.js';
import type { OutboundOperation } from '../../../../platform/outbound/outbound.operation.js';
import { DialThread } from '../../../../platform/outbound/thread/dial-thread.js';
import { Env } from '../../../../platform/config/env.js';
import { isJsonObject } from '#engine/json';
import { SecretRemoval } from '../../../../platform/secrets/secret-removal.js';
import { runYielding } from '#engine/support';
import { messageParams } from './message-params.js';
import { ModelCallError } from './model-call.error.js';
import type { ModelFailure, ModelRequest, ModelTurn, RequestedCall } from './model-client.types.js';
import { retryAfterOf } from '../../../../platform/outbound/retry-after.js';
import { modelLimits } from './model.limits.js';
import { dataLimits } from '../../../../platform/validation/data.limits.js';

/** Headers that are sent. The library would add details about this machine and its environment. */
const SENT_HEADERS = ['accept', 'authorization', 'content-type', 'traceparent'];
/** Longer ids are never used, see CALL_ID. */
const MAX_ID_LENGTH = 200;
const CALL_ID = /^[\x21-\x7e]{1,128}$/;

/** Model failures by outbound failure; all others are NETWORK. */
const KINDS: Readonly<Partial<Record<OutboundFailure, ModelFailure>>> = {
  timeout: 'TIMEOUT',
  too_large: 'TOO_LARGE',
  blocked: 'BLOCKED',
  port: 'BLOCKED',
  insecure: 'BLOCKED',
  redirect: 'BLOCKED',
  encoding: 'INVALID',
};

const count = z.int().min(0).nullable().catch(null).default(null);
const NOT_COUNTED = { prompt_tokens: null, completion_tokens: null, cost: null };
/** Maximum number of calls parsed in one answer. */
const MAX_CALLS = 1_000;
/** Parsed part of an answer (OpenAI API, "The chat completion object"). Long lists are parsed item by item. */
const completion = z.object({
  choices: z.array(z.unknown()).min(1),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      cost: z.number().min(0).nullable().catch(null).default(null),
    })
    .catch(NOT_COUNTED),
});
const firstChoice = z.object({
  finish_reason: z.string().max(64).catch(''),
  message: z.object({
    content: z.string().nullable().default(null),
    refusal: z.string().nullable().default(null),
    tool_calls: z
      .array(z.unknown())
      .max(MAX_CALLS)
      .nullish()
      .transform((calls) => calls ?? []),
  }),
});
const toolCall = z.object({
  id: z.string().nullable().default(null),
  function: z.object({ name: z.string().max(256), arguments: z.string().default('') }),
});

/** Client of an OpenAI-compatible API. Each request is one guarded call. */
@Injectable()
export class OpenAiModelClient {
  private readonly outbound: OutboundClient;
  /** Removes the API key from provider texts, which are passed to tools and readers of a run. */
  private readonly removal: SecretRemoval;

  /** @throws EnvError at start when `EGRESS_ALLOW` cannot be read */
  constructor(
    private readonly env: Env,
    thread: DialThread,
  ) {
    const apiKey = env.get('LLM_API_KEY');
    this.removal = new SecretRemoval(apiKey === undefined ? [] : [apiKey]);
    // With an API key the URL must be https or local.
    this.outbound = operatorClient(env, env.get('LLM_BASE_URL'), thread);
  }

  /** Whether an address and a model are configured. */
  get isConfigured(): boolean {
    return this.env.get('LLM_BASE_URL') !== undefined && this.env.get('LLM_MODEL') !== undefined;
  }

  /** Sends one request. @throws ModelCallError, or the reason of the request's signal */
  async ask(request: ModelRequest): Promise<ModelTurn> {
    const maxBytes = modelLimits.maxResponseBytes;
    const limits = {
      deadlineMs: modelLimits.timeoutMs,
      maxResponseBytes: maxBytes,
      maxTotalBytes: maxBytes,
      maxElements: dataLimits.values,
    };
    return this.outbound.run(limits, async (operation) => {
      try {
        const { signal, traceparent } = request;
        const { completions } = this.client(operation).chat;
        const sent = completions.create(this.bodyOf(request), { signal, headers: { traceparent } });
        return await turnOf(await operation.race(sent), this.removal);
      } catch (error) {
        request.signal.throwIfAborted();
        throw this.failureOf(error, operation.failure);
      }
    });
  }

  /** Creates a client. All options are set so that the library reads no environment variables. */
  private client(operation: OutboundOperation): OpenAI {
    const apiKey = this.env.get('LLM_API_KEY');
    return new OpenAI({
      baseURL: this.env.get('LLM_BASE_URL') ?? '',
      apiKey: apiKey ?? 'none',
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: 'off',
      maxRetries: 0,
      timeout: modelLimits.timeoutMs,
      fetch: (input, init) => {
        const given = new Headers(init?.headers);
        const headers = new Headers();
        for (const name of SENT_HEADERS) {
          const value = name === 'authorization' && apiKey === undefined ? null : given.get(name);
          if (value !== null) {
            headers.set(name, value);
          }
        }
        return operation.fetch(input instanceof Request ? input.url : input, { ...init, headers });
      },
    });
  }

  private failureOf(error: unknown, outbound: OutboundError | undefined): ModelCallError {
    if (error instanceof ModelCallError) {
      return error;
    }
    if (error instanceof APIError && typeof error.status === 'number') {
      // Messages of the built-in scripted model are safe to show; it is used if no other model is configured.
      const isScripted = this.env.isEvaluation && this.env.isEntryPointDefault('LLM_BASE_URL');
      const retryAfterMs = retryAfterOf(error.headers as Headers | undefined);
      return new ModelCallError(`HTTP_${error.status}`, retryAfterMs, isScripted ? messageOf(error) : null);
    }
    const failure = error instanceof OutboundError ? error : outbound;
    return new ModelCallError(failure === undefined ? 'INVALID' : (KINDS[failure.failure] ?? 'NETWORK'));
  }

  private bodyOf({
    messages,
    tools,
    answerSchema: schema,
  }: ModelRequest): ChatCompletionCreateParamsNonStreaming {
    const format = this.env.get('LLM_ANSWER_FORMAT');
    return {
      model: this.env.get('LLM_MODEL') ?? '',
      messages: messageParams(messages),
      ...(tools.length > 0 && {
        tools: tools.map((tool) => ({ type: 'function' as const, function: { ...tool } })),
      }),
      ...(format === 'json_object' && { response_format: { type: format } }),
      ...(format === 'json_schema' && {
        response_format: { type: format, json_schema: { name: 'answer', schema } },
      }),
    };
  }
}

/** Parses a chat completion. @throws ModelCallError when it is not one */
async function turnOf(answer: unknown, removal: SecretRemoval): Promise<ModelTurn> {
  const { choices, usage } = read(completion, answer);
  const { message, finish_reason: finishReason } = read(firstChoice, choices[0]);
  const { content, refusal, tool_calls: calls } = message;
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens, cost } = usage;
  return {
    content:
      content === null && refusal === null
        ? null
        : await runYielding(removal.textSteps(content ?? refusal ?? '')),
    calls: await withIds(
      calls.map((call) => read(toolCall, call)),
      removal,
    ),
    usage: { inputTokens, outputTokens, cost },
    finishReason: removal.text(finishReason),
  };
}

/** @throws ModelCallError for a value that does not match */
function read<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const { success, data } = schema.safeParse(value);
  if (!success) {
    throw new ModelCallError('INVALID');
  }
  return data;
}

/** Adds ids to calls. Uses the ids of the model if they are unique; some models give none, or the same to all calls. */
async function withIds(
  calls: readonly z.output<typeof toolCall>[],
  removal: SecretRemoval,
): Promise<RequestedCall[]> {
  const ids = calls.map(({ id }) => removal.text((id ?? '').slice(0, MAX_ID_LENGTH)));
  const areUsable = new Set(ids).size === ids.length && ids.every((id) => CALL_ID.test(id));
  const requested: RequestedCall[] = [];
  for (const { name, arguments: text } of calls.map((call) => call.function)) {
    const index = requested.length;
    requested.push({
      id: areUsable ? (ids[index] ?? '') : `call_${index + 1}`,
      name: removal.text(name),
      arguments: await runYielding(removal.textSteps(text)),
    });
  }
  return requested;
}

/** Returns the message of a protocol error. */
function messageOf(error: APIError): string | null {
  const body: unknown = error.error;
  const message = isJsonObject(body) ? body['message'] : null;
  return typeof message === 'string' ? `The scripted model says: ${message}` : null;
}
