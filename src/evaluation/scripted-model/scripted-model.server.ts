import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { Clock } from '../../platform/clock.js';
import { parseChatRequest, type ChatRequest } from './chat-request.js';
import type { Env } from '../../platform/config/env.js';
import { placeOf, readModelScript, ScriptFile, ScriptFileError, type ModelScript } from './model-script.js';
import { missingRule, scriptedAnswer, type ScriptedAnswer } from './scripted-answer.js';

const LOOPBACK = '127.0.0.1';
const REQUEST_MAX_BYTES = 16_777_216;
const CHARACTERS_PER_TOKEN = 4;

class ModelError extends Error {
  override readonly name = 'ModelError';
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Options of a scripted model. */
interface ScriptedModelOptions {
  /** Called and awaited before each valid request is answered. */
  onRequest?: (request: ChatRequest) => void | Promise<void>;
  /** Reads the script for each call. @throws ScriptFileError */
  read?: () => Promise<ModelScript>;
  /** Called with the reason for a rejected call, since agents do not keep messages of failed models. */
  log?: (line: string) => void;
}

/**
 * A language model that follows a script: an OpenAI-compatible server on this machine, so that agents can be tried without an account. It
 * replaces only the model; the tools are real.
 */
export class ScriptedModel {
  private readonly clock = new Clock();
  private readonly server: Server;
  private override: ModelScript | undefined;

  private constructor(
    private readonly script: ModelScript,
    private readonly options: ScriptedModelOptions,
  ) {
    this.server = createServer((request, response) => void this.handle(request, response));
  }

  /**
   * Starts the model on a free port of 127.0.0.1.
   * @param script the model keeps its name even if another script is read later
   */
  static async start(script: ModelScript, options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
    const model = new ScriptedModel(script, options);
    await new Promise<void>((resolve, reject) => {
      model.server.once('error', reject).listen(0, LOOPBACK, resolve);
    });
    return model;
  }

  /** Switches to another script permanently. The model keeps its name, which the service requests. */
  follow(script: ModelScript): void {
    this.override = { ...script, model: this.name };
  }

  get url(): string {
    return `http://${LOOPBACK}:${(this.server.address() as AddressInfo).port}/v1`;
  }

  get name(): string {
    return this.script.model;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      send(response, 200, await this.answer(request));
    } catch (error) {
      const { status, code, message } = asModelError(error);
      this.options.log?.(message);
      const type = status < 500 ? 'invalid_request_error' : 'server_error';
      send(response, status, { error: { message, type, param: null, code } });
    }
  }

  private async answer(request: IncomingMessage): Promise<object> {
    switch (`${request.method} ${request.url}`) {
      case 'GET /v1/models':
        return { object: 'list', data: [{ id: this.name, object: 'model', created: 0, owned_by: 'script' }] };
      case 'POST /v1/chat/completions':
        return this.complete(parseChatRequest(parseBody(await readBody(request))));
      default:
        throw new ModelError(404, 'unknown_url', `Unknown route: ${request.method} ${request.url}.`);
    }
  }

  private async complete(request: ChatRequest): Promise<object> {
    if (request.model !== this.name) {
      throw new ModelError(404, 'model_not_found', `Unknown model: ${request.model}.`);
    }
    await this.options.onRequest?.(request);
    const script = this.override ?? (await this.options.read?.()) ?? this.script;
    const answer = scriptedAnswer(script, request);
    if (answer === null) {
      throw new ModelError(400, 'no_rule', missingRule(script, request));
    }
    const prompt = tokensOf(JSON.stringify([request.messages, request.tools ?? []]));
    const completion = tokensOf(JSON.stringify(answer));
    return {
      id: `chatcmpl-${randomUUID()}`,
      object: 'chat.completion',
      created: Math.floor(this.clock.now().getTime() / 1_000),
      model: this.name,
      choices: [choiceOf(answer)],
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    };
  }
}

/**
 * Starts the model of evaluation mode: a scripted one, unless LLM_BASE_URL is set. Its file is read for each call, so changes take effect
 * with the next one.
 * @param sampleScript file to use if EVALUATION_MODEL_SCRIPT is not set
 * @throws SettingUnusableError
 */
export async function startEvaluationModel(
  env: Env,
  sampleScript: string,
): Promise<ScriptedModel | undefined> {
  if (env.get('LLM_BASE_URL') !== undefined) {
    return undefined;
  }
  const path = env.variable('EVALUATION_MODEL_SCRIPT') ?? sampleScript;
  const script = await readModelScript(path);
  const file = new ScriptFile(path);
  return ScriptedModel.start(script, {
    read: () => file.read(),
    log: (line) => process.stderr.write(`scripted model: ${line}\n`),
  });
}

function choiceOf({ content, calls }: ScriptedAnswer): object {
  const toolCalls = calls.map((call) => ({
    id: `call_${randomUUID().replaceAll('-', '')}`,
    type: 'function',
    function: { name: call.tool, arguments: call.arguments },
  }));
  const message = {
    role: 'assistant',
    content,
    refusal: null,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
  return { index: 0, message, logprobs: null, finish_reason: toolCalls.length > 0 ? 'tool_calls' : 'stop' };
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/** @throws ModelError */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ModelError(400, 'invalid_json', 'The body is not JSON.');
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > REQUEST_MAX_BYTES) {
      throw new ModelError(413, 'request_too_large', 'The request is too large.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) {
    return error;
  }
  if (error instanceof ScriptFileError) {
    return new ModelError(400, 'script_invalid', error.message);
  }
  if (error instanceof z.ZodError) {
    return new ModelError(400, 'invalid_request', placeOf(error));
  }
  return new ModelError(500, 'internal_error', 'The model failed.');
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
