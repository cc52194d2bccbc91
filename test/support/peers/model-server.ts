import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Peer, readBody, startHttpPeer } from './peer.js';

/** A message as it comes over the wire. */
export interface WireMessage {
  role: string;
  content?: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** A question as it comes over the wire. */
export interface WireQuestion {
  model: string;
  messages: WireMessage[];
  tools?: { function: { name: string; description: string; parameters: Record<string, unknown> } }[];
  response_format?: unknown;
  temperature?: number;
}

/** What the model does with a question: writes the answer itself, or gives a chat completion. */
export type ModelReply = ((response: ServerResponse, request: IncomingMessage) => void) | object;

/** A language model that a test speaks for: any OpenAI-compatible server, as well or badly behaved as the script is. */
export interface ModelServer extends Peer {
  /** Questions in order of arrival. */
  readonly questions: WireQuestion[];
  readonly headers: IncomingMessage['headers'][];
  /** Called with each question; set it before the model is asked. */
  reply: (question: WireQuestion, index: number) => ModelReply;
}

/** Starts a model; its `url` ends with `/v1`, as LLM_BASE_URL does. */
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

/** A final answer: text, or a value as JSON. */
export function says(answer: unknown): object {
  return completion({ content: typeof answer === 'string' ? answer : JSON.stringify(answer) }, 'stop');
}

/** Calls of tools; arguments that are a text are sent as they are. */
export function asksFor(...calls: [name: string, args: unknown][]): object {
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

/** An HTTP error with a text that must not be seen anywhere. */
export function refuses(status: number, headers: Record<string, string> = {}): ModelReply {
  return (response: ServerResponse) => {
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ error: { message: 'foreign text of the model', type: 'x' } }));
  };
}

/** What tools have answered so far, in order. */
export function observations({ messages }: WireQuestion): Record<string, unknown>[] {
  return messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => JSON.parse(content ?? '') as Record<string, unknown>);
}
