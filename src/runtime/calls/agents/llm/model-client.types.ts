import type { JsonObject } from '#engine/json';
import type { CallUsage } from '../../workflows/model/call-journal.types.js';
import type { ToolImage } from '../../../../systems/mcp-connection/model/tool-call.types.js';

export interface OfferedTool {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

/** Tool call requested by the model. Name and arguments are untrusted. */
export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as written by the model. */
  readonly arguments: string;
}

/** Message of a conversation. Instructions come only from the author of the node; data is in `user` and `tool` messages. */
export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly calls: readonly RequestedCall[];
    }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly content: string;
      readonly images?: readonly ToolImage[];
    };

export function imagesOf(message: ModelMessage): readonly ToolImage[] {
  return message.role === 'tool' ? (message.images ?? []) : [];
}

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly OfferedTool[];
  readonly answerSchema: JsonObject;
  /** Aborts the call; its reason is thrown. */
  readonly signal: AbortSignal;
  /** W3C trace context header. */
  readonly traceparent: string;
}

/** Answer of the model: tool calls or the final answer. */
export interface ModelTurn {
  readonly content: string | null;
  readonly calls: readonly RequestedCall[];
  readonly usage: CallUsage;
  /** Finish reason of the API; `length` means that the answer is truncated. */
  readonly finishReason: string;
}

/** Why a model did not answer. A fixed list without text from the provider. */
export type ModelFailure = 'TIMEOUT' | 'NETWORK' | 'BLOCKED' | 'TOO_LARGE' | 'INVALID' | `HTTP_${number}`;
