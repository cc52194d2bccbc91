import { z } from 'zod';

const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const TOOLS_MAX = 128;

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const imagePart = z
  .object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) })
  .transform(() => ({ text: '' }));

/** A text, or the text parts of a message. The scripted model does not look at images. */
const content = z.union([
  z.string(),
  z.array(z.union([textPart, imagePart])).transform((parts) => parts.map(({ text }) => text).join('')),
]);

const call = z.object({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.object({ name: z.string().regex(FUNCTION_NAME), arguments: z.string() }),
});

const message = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content }),
  z.object({
    role: z.literal('assistant'),
    content: content.nullable().optional(),
    tool_calls: z.array(call).min(1).optional(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string(), content }),
]);

const tool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: z.string().regex(FUNCTION_NAME),
    description: z.string().optional(),
    parameters: z.looseObject({ type: z.literal('object') }).optional(),
  }),
});

/**
 * `POST /v1/chat/completions` as the protocol defines it, as far as the scripted model reads it. What it does not read is let
 * through, what it does not do is refused.
 */
const chatRequest = z
  .looseObject({
    model: z.string().min(1),
    messages: z.array(message).min(1),
    tools: z.array(tool).min(1).max(TOOLS_MAX).optional(),
    n: z.literal(1, 'Only one choice is given.').optional(),
    stream: z.literal(false, 'Streaming is not supported.').optional(),
  })
  .superRefine(({ messages, tools }, context) => {
    const problem = unansweredCall(messages) ?? repeatedName(tools ?? []);
    if (problem !== undefined) {
      context.addIssue(problem);
    }
  });

export type ChatRequest = z.output<typeof chatRequest>;
export type ChatMessage = ChatRequest['messages'][number];

/** @throws z.ZodError naming what is wrong */
export function parseChatRequest(body: unknown): ChatRequest {
  return chatRequest.parse(body);
}

/** Every call is answered right behind the message that makes it, and nothing else is answered. */
function unansweredCall(messages: readonly z.output<typeof message>[]): string | undefined {
  let open = new Set<string>();
  for (const each of messages) {
    if (each.role === 'tool') {
      if (!open.delete(each.tool_call_id)) {
        return `A tool message answers ${each.tool_call_id}, which no message before it calls.`;
      }
    } else if (open.size > 0) {
      break;
    } else if (each.role === 'assistant') {
      open = new Set(each.tool_calls?.map(({ id }) => id));
    }
  }
  return open.size > 0 ? `No tool message answers the call ${[...open].join(', ')}.` : undefined;
}

function repeatedName(tools: readonly z.output<typeof tool>[]): string | undefined {
  const names = tools.map(({ function: { name } }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? undefined : `Two tools are called ${repeated}.`;
}
