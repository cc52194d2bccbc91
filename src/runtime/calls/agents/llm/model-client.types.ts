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

/** A call of a tool that the model asks for. Names and arguments are of its making. */
export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

/** One message of the conversation. Instructions are of the author of the node alone; data comes as `user` and `tool`. */
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
  /** Ends the call; its reason is thrown. */
  readonly signal: AbortSignal;
  /** W3C trace context, sent along. */
  readonly traceparent: string;
}

/** What the model answers: calls of tools, or else its final answer. */
export interface ModelTurn {
  readonly content: string | null;
  readonly calls: readonly RequestedCall[];
  readonly usage: CallUsage;
  /** Why it stopped, one of the words of the API; `length` means that the answer is cut off. */
  readonly finishReason: string;
}

/** Why a model did not answer. A fixed list, without a word of the other side. */
export type ModelFailure = 'TIMEOUT' | 'NETWORK' | 'BLOCKED' | 'TOO_LARGE' | 'INVALID' | `HTTP_${number}`;
