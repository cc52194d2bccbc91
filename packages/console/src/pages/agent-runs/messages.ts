import type { WorkflowCall } from '../../../../client/src/index.js';

/** Tool call requested by a model. */
export interface RequestedCall {
  id: string;
  name: string;
  /** Normally JSON, but the model may have written anything. */
  arguments: string;
}

/** Message to a model. */
export interface Message {
  role: string;
  content: string;
}

/** Request to a model, as recorded in the trace. */
export interface ModelRequest {
  messages: readonly Message[];
  tools: readonly string[];
}

/** Answer of a model. */
export interface ModelAnswer {
  content: string;
  calls: readonly RequestedCall[];
  finishReason: string;
}

/** Parses the request of a model call; undefined if the trace has another form, for example because it is truncated. */
export function modelRequestOf(request: unknown): ModelRequest | undefined {
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

/** Parses the answer of a model call; undefined if the trace has another form. */
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

/** Parses a call of a tool or service. */
export function toolCallOf({ key, request, response }: Pick<WorkflowCall, 'key' | 'request' | 'response'>): {
  name: string;
  system: string;
  input: unknown;
  output: unknown;
} {
  const sent = isObject(request) ? request : {};
  const received = isObject(response) ? response : {};
  return {
    name: textOf(sent['tool'] ?? sent['name'] ?? key),
    system: textOf(sent['system']),
    input: sent['arguments'] ?? request,
    output: received['result'] ?? received['error'] ?? response,
  };
}

/** Parses JSON; returns the text itself if it is not JSON. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Converts a value to text: strings unchanged, null and undefined as empty text, anything else as JSON. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) {
    return '';
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
