import { byteLength } from '../../json/byte-length.js';
import { definitionLimits } from '../definition.limits.js';
import type { DefinitionProblems } from '../model/definition-problems.js';

/** Minimum average size of an element. Files of modelling tools have 50 bytes and more per element. */
const BYTES_PER_ELEMENT = 16;
/** Element limit for small files. */
const MIN_ELEMENTS = 16_384;
/** A file declares a handful of namespaces; each declaration makes the parser copy the enclosing ones. */
const MAX_NAMESPACES = 200;
const MAX_DEPTH = 200;
/** Comments, CDATA and processing instructions: anything in them that looks like a tag is not one. */
export const NOT_CONTENT = /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)/g;
const BOOLEANS =
  /\s(isExecutable|cancelActivity|isInterrupting|parallelMultiple|triggeredByEvent|isSequential|instantiate|isForCompensation|isCollection|isClosed)\s*=\s*(?!["'](?:true|false)["'])["']([^"']{0,20})/g;

/**
 * Rejects text that no XML parser should read: too large, nested too deeply, or with a document type (entities). Also rejects flags
 * that the reader would silently read as false.
 * @returns whether the text may be parsed
 */
export function mayBeParsed(xml: string, problems: DefinitionProblems): boolean {
  const { xmlBytes } = definitionLimits;
  if (byteLength(xml) > xmlBytes) {
    problems.error('FILE_TOO_LARGE', null, `A BPMN file can have at most ${xmlBytes} bytes.`);
    return false;
  }
  const content = xml.replace(NOT_CONTENT, ' ');
  if (/<!/.test(content)) {
    problems.error(
      'DOCUMENT_TYPE',
      null,
      'A BPMN file cannot have a document type or entities: remove the <!…>.',
    );
    return false;
  }
  const { depth, elements } = sizeOf(content);
  if (content.split('xmlns').length > MAX_NAMESPACES || depth > MAX_DEPTH) {
    problems.error(
      'FILE_TOO_COMPLEX',
      null,
      'The file is nested too deeply or declares too many namespaces.',
    );
    return false;
  }
  const maxElements = Math.max(MIN_ELEMENTS, Math.floor(xmlBytes / BYTES_PER_ELEMENT));
  if (elements > maxElements) {
    const message = `A BPMN file can have at most ${maxElements} elements, this one has ${elements}: split it.`;
    problems.error('FILE_TOO_COMPLEX', null, message);
    return false;
  }
  for (const [, name, value] of content.matchAll(BOOLEANS)) {
    problems.error('INVALID_VALUE', null, `${name} is "true" or "false", not "${value}".`);
  }
  return true;
}

/** Returns the number of elements and the nesting depth. Broken markup is left to the parser. */
function sizeOf(content: string): { elements: number; depth: number } {
  let elements = 0;
  let level = 0;
  let depth = 0;
  for (const { at, end } of tagsIn(content)) {
    if (content[at + 1] === '/') {
      level -= 1;
    } else {
      elements += 1;
      level += 1;
      depth = Math.max(depth, level);
      level -= content[end - 1] === '/' ? 1 : 0;
    }
  }
  return { elements, depth };
}

/** Yields the position of each "<" and of the ">" that closes it; -1 if none does. */
export function* tagsIn(content: string): Generator<{ at: number; end: number }> {
  for (let at = content.indexOf('<'); at !== -1;) {
    const end = endOfTag(content, at + 1);
    yield { at, end };
    at = end === -1 ? -1 : content.indexOf('<', end);
  }
}

/** Returns the end of a tag as the parser sees it: the first ">" outside quotes, ignoring unclosed quotes. */
function endOfTag(content: string, from: number): number {
  for (let at = from; at < content.length; at += 1) {
    const character = content[at];
    if (character === '>') {
      return at;
    }
    if (character === '"' || character === "'") {
      const closing = content.indexOf(character, at + 1);
      at = closing === -1 ? at : closing;
    }
  }
  return -1;
}
