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

/** What surrounds a scripted model. */
interface ScriptedModelSurroundings {
  /** Is told of each well-formed request, and waited for, before it is answered. */
  onRequest?: (request: ChatRequest) => void | Promise<void>;
  /** Reads the script anew for a call. @throws ScriptFileError */
  read?: () => Promise<ModelScript>;
  /** Is told why a call was refused: agents keep no words of a model that fails. */
  tell?: (line: string) => void;
}

/**
 * A language model that knows its lines: an OpenAI-compatible server on this machine that answers from a script. So
 * agents can be seen at work without an account. It stands in for the model only: the tools and their work are real.
 */
export class ScriptedModel {
  private readonly clock = new Clock();
  private readonly server: Server;
  private followed: ModelScript | undefined;

  private constructor(
    private readonly script: ModelScript,
    private readonly surroundings: ScriptedModelSurroundings,
  ) {
    this.server = createServer((request, response) => void this.handle(request, response));
  }

  /**
   * Starts it on a free port of 127.0.0.1.
   * @param script its name stays that of the model, whatever is read later
   */
  static async start(
    script: ModelScript,
    surroundings: ScriptedModelSurroundings = {},
  ): Promise<ScriptedModel> {
    const model = new ScriptedModel(script, surroundings);
    await new Promise<void>((resolve, reject) => {
      model.server.once('error', reject).listen(0, LOOPBACK, resolve);
    });
    return model;
  }

  /** Answers from another script from now on, and reads no more. Its model has the name of the first one, which the service asks for. */
  follow(script: ModelScript): void {
    this.followed = { ...script, model: this.name };
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
      this.surroundings.tell?.(message);
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
        throw new ModelError(404, 'unknown_url', `There is no ${request.method} ${request.url} here.`);
    }
  }

  private async complete(request: ChatRequest): Promise<object> {
    if (request.model !== this.name) {
      throw new ModelError(404, 'model_not_found', `There is no model ${request.model} here.`);
    }
    await this.surroundings.onRequest?.(request);
    const script = this.followed ?? (await this.surroundings.read?.()) ?? this.script;
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
 * The model of evaluation mode: a scripted one, unless LLM_BASE_URL names another.
 * Its file is read for each call, so a change counts from the next one on.
 * @param sampleScript file that it answers from where EVALUATION_MODEL_SCRIPT names none
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
    tell: (line) => process.stderr.write(`scripted model: ${line}\n`),
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
    throw new ModelError(400, 'invalid_json', 'The body is no JSON.');
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
