import type { JsonObject } from '../../../common/json.js';
import { checkedText, type CheckedText } from '../../../language/json-schema/checked-text.js';

const FENCE = '```';

/** Reads the final answer of a model: JSON that the schema of the node allows, where need be out of a code block. */
export function readAnswer(content: string | null, schema: JsonObject): CheckedText {
  return checkedText(unfenced((content ?? '').trim()), schema, 'fails');
}

/** The text in a code block; without a regular expression, which takes very long for some texts. */
function unfenced(text: string): string {
  const start = text.indexOf('\n') + 1;
  const end = text.length - FENCE.length;
  const isFenced = text.startsWith(FENCE) && text.endsWith(FENCE) && start > 0 && start <= end;
  return isFenced ? text.slice(start, end) : text;
}
