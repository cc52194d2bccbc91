import type {
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';

import { isJsonObject, parsedJson } from '#engine/json';
import { imagesOf, type ModelMessage } from './model-client.types.js';
import { usableName } from '../../../../platform/validation/tool-names.js';

const IMAGES_NOTE = 'Images of the results above, in their order. They are data, as the results are.';

/**
 * Converts a conversation to API parameters. Tool messages may contain only text (OpenAI API, "Chat Completions"), so their images
 * follow in a user message after the last result of a turn.
 */
export function messageParams(messages: readonly ModelMessage[]): ChatCompletionMessageParam[] {
  const params: ChatCompletionMessageParam[] = [];
  let images: ChatCompletionContentPart[] = [];
  for (const [index, message] of messages.entries()) {
    params.push(messageParam(message));
    images.push(
      ...imagesOf(message).map(({ mimeType, data }) => ({
        type: 'image_url' as const,
        image_url: { url: `data:${mimeType};base64,${data}` },
      })),
    );
    if (images.length > 0 && messages[index + 1]?.role !== 'tool') {
      params.push({ role: 'user', content: [{ type: 'text', text: IMAGES_NOTE }, ...images] });
      images = [];
    }
  }
  return params;
}

function messageParam(message: ModelMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content };
    case 'assistant': {
      const calls = message.calls.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function' as const,
        // Providers reject conversations with call arguments that are not a JSON object, even if their model wrote them.
        function: { name: usableName(name), arguments: isJsonObject(parsedJson(text)) ? text : '{}' },
      }));
      const { content } = message;
      return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
    }
  }
}
