import { z } from 'zod';

const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const TOOLS_MAX = 128;

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const imagePart = z
  .object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) })
  .transform(() => ({ text: '' }));

/** Text, or the text parts of a message. The scripted model ignores images. */
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
 * Schema of `POST /v1/chat/completions`, as far as the scripted model uses it. Ignores unknown members and rejects unsupported features.
 */
const chatRequest = z
  .looseObject({
    model: z.string().min(1),
    messages: z.array(message).min(1),
    tools: z.array(tool).min(1).max(TOOLS_MAX).optional(),
    n: z.literal(1, 'Only one choice is supported.').optional(),
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

/** Parses a request. @throws z.ZodError describing the problem */
export function parseChatRequest(body: unknown): ChatRequest {
  return chatRequest.parse(body);
}

/** Checks that every call is answered directly after the message with the call, and that nothing else is answered. */
function unansweredCall(messages: readonly z.output<typeof message>[]): string | undefined {
  let open = new Set<string>();
  for (const each of messages) {
    if (each.role === 'tool') {
      if (!open.delete(each.tool_call_id)) {
        return `A tool message answers ${each.tool_call_id}, but no earlier message contains this call.`;
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
