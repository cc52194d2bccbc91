export {
  BEYOND_NUMBERS,
  RoundedIntegerError,
  asInfinite,
  parseExactly,
  refuseRounded,
} from './exact-json.js';
export {
  COLON,
  COMMA,
  LIST,
  LIST_END,
  OBJECT,
  OBJECT_END,
  QUOTE,
  SPACE,
  endOfByteString,
} from './json-bytes.js';
export { jsonFault, placeOfFault } from './json-fault.js';
export { endOfString, membersText, objectText } from './json-text.js';
export {
  type JsonObject,
  type JsonValue,
  countValues,
  hasMoreValues,
  isContainer,
  isJsonObject,
  jsonDepth,
  jsonSize,
  parsedJson,
} from './json.js';
