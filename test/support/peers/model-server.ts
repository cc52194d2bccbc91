import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Peer, readBody, startHttpPeer } from './peer.js';

/** A chat message as received by the model. */
export interface WireMessage {
  role: string;
  content?: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** A chat completion request as received by the model. */
export interface WireQuestion {
  model: string;
  messages: WireMessage[];
  tools?: { function: { name: string; description: string; parameters: Record<string, unknown> } }[];
  response_format?: unknown;
  temperature?: number;
}

/** Reply to a question: a function that writes the HTTP response, or a chat completion to send. */
export type ModelReply = ((response: ServerResponse, request: IncomingMessage) => void) | object;

/** An OpenAI-compatible server with scripted replies. */
export interface ModelServer extends Peer {
  /** Questions in order of arrival. */
  readonly questions: WireQuestion[];
  readonly headers: IncomingMessage['headers'][];
  /** Called for each question. */
  reply: (question: WireQuestion, index: number) => ModelReply;
}

/** Starts a model server. Its `url` ends with `/v1`, like LLM_BASE_URL. */
export async function startModelServer(reply: ModelServer['reply'] = () => says('{}')): Promise<ModelServer> {
  const state: Pick<ModelServer, 'questions' | 'headers' | 'reply'> = { questions: [], headers: [], reply };
  const peer = await startHttpPeer((request, response) => void answer(state, request, response), '/v1');
  return Object.assign(state, peer);
}

async function answer(
  state: Pick<ModelServer, 'questions' | 'headers' | 'reply'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const text = await readBody(request);
  if (request.url !== '/v1/chat/completions' || request.method !== 'POST') {
    response.writeHead(404).end();
    return;
  }
  const question = JSON.parse(text) as WireQuestion;
  const index = state.questions.push(question) - 1;
  state.headers.push(request.headers);
  const reply = state.reply(question, index);
  if (typeof reply === 'function') {
    (reply as (response: ServerResponse, request: IncomingMessage) => void)(response, request);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
}

const completion = (message: object, finishReason: string): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'scripted',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});

/** Returns a final answer: a text, or a value as JSON. */
export function says(answer: unknown): object {
  return completion({ content: typeof answer === 'string' ? answer : JSON.stringify(answer) }, 'stop');
}

/** Returns a completion that calls tools. Arguments given as a string are sent unchanged. */
export function callsTools(...calls: [name: string, args: unknown][]): object {
  return completion(
    {
      content: 'I need to look.',
      tool_calls: calls.map(([name, args], index) => ({
        id: `id-${index}`,
        type: 'function',
        function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
      })),
    },
    'tool_calls',
  );
}

/** Returns an HTTP error whose text the service must not expose. */
export function refuses(status: number, headers: Record<string, string> = {}): ModelReply {
  return (response: ServerResponse) => {
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ error: { message: 'foreign text of the model', type: 'x' } }));
  };
}

/** Returns the results of all tool calls so far, in order. */
export function observations({ messages }: WireQuestion): Record<string, unknown>[] {
  return messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => JSON.parse(content ?? '') as Record<string, unknown>);
}
