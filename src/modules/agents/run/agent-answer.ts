import type { JsonObject } from '../../../common/json.js';
import type { CheckedText } from '../../../language/json-schema/checked-text.js';
import type { ToolCallsService } from '../../mcp-connection/calls/tool-calls.service.js';

const FENCE = '```';

/**
 * Reads the final answer of a model: JSON that the schema of the node allows, where need be out of a code block.
 * @throws Error when nobody could look at it, for a reason that is not the answer's: the run is tried again, and goes on there
 */
export async function readAnswer(
  content: string | null,
  schema: JsonObject,
  toolCalls: Pick<ToolCallsService, 'checkAnswer'>,
): Promise<CheckedText> {
  const text = unfenced((content ?? '').trim());
  const read = await toolCalls.checkAnswer({ text, schema });
  if (!('outcome' in read)) {
    return read;
  }
  if (read.cause !== 'arguments_unchecked') {
    throw new Error('The answer of the model could not be held against its schema.');
  }
  return { problem: 'To hold it against its JSON Schema takes too long.' };
}

/** The text in a code block; without a regular expression, which takes very long for some texts. */
function unfenced(text: string): string {
  const start = text.indexOf('\n') + 1;
  const end = text.length - FENCE.length;
  const isFenced = text.startsWith(FENCE) && text.endsWith(FENCE) && start > 0 && start <= end;
  return isFenced ? text.slice(start, end) : text;
}
