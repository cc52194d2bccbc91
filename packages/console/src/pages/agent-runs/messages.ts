import type { WorkflowCall } from '../../../../client/src/index.js';

/** A call that a model asks for. */
export interface AskedCall {
  id: string;
  name: string;
  /** As the model wrote them; JSON, if all is well. */
  arguments: string;
}

/** A message to a model. */
export interface Message {
  role: string;
  content: string;
}

/** What a model was asked, as a trace holds it. */
export interface Question {
  messages: readonly Message[];
  tools: readonly string[];
}

/** What a model has answered. */
export interface ModelAnswer {
  content: string;
  calls: readonly AskedCall[];
  finishReason: string;
}

/** What was new to a model in a call; undefined where the trace holds something else, such as a beginning of it. */
export function questionOf(request: unknown): Question | undefined {
  if (!isObject(request) || !Array.isArray(request['messages'])) {
    return undefined;
  }
  return {
    messages: request['messages'].filter(isObject).map(({ role, content }) => ({
      role: textOf(role),
      content: textOf(content),
    })),
    tools: Array.isArray(request['tools']) ? request['tools'].map(textOf) : [],
  };
}

/** What a model has answered; undefined where the trace holds something else. */
export function answerOf(response: unknown): ModelAnswer | undefined {
  if (!isObject(response) || !('content' in response || 'calls' in response)) {
    return undefined;
  }
  const calls = Array.isArray(response['calls']) ? response['calls'].filter(isObject) : [];
  return {
    content: textOf(response['content']),
    calls: calls.map((call) => ({
      id: textOf(call['id']),
      name: textOf(call['name']),
      arguments: textOf(call['arguments']),
    })),
    finishReason: textOf(response['finishReason']),
  };
}

/** What a tool, or a service, was asked and has answered. */
export function toolCallOf({ key, request, response }: Pick<WorkflowCall, 'key' | 'request' | 'response'>): {
  name: string;
  system: string;
  input: unknown;
  output: unknown;
} {
  const asked = isObject(request) ? request : {};
  const told = isObject(response) ? response : {};
  return {
    name: textOf(asked['tool'] ?? asked['name'] ?? key),
    system: textOf(asked['system']),
    input: asked['arguments'] ?? request,
    output: told['result'] ?? told['error'] ?? response,
  };
}

/** JSON in a text as a value; the text itself where it is none. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Texts as they are, nothing as an empty one, anything else as JSON. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) {
    return '';
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
