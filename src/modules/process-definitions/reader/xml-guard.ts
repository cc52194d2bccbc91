import type { Problems } from '../model/problems.js';

/** Bounds of one file before it is parsed. */
export interface XmlLimits {
  /** UTF-8 bytes. */
  maxBytes: number;
}

/** A file declares a handful of namespaces; each declaration makes the parser copy those around it. */
const MAX_NAMESPACES = 200;
const MAX_DEPTH = 200;
const NOT_CONTENT = /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)/g;
const TAG = /<(?:[^<>"']|"[^"]*"|'[^']*')*>/g;
const BOOLEANS =
  /\s(isExecutable|cancelActivity|isInterrupting|parallelMultiple|triggeredByEvent|isSequential|instantiate|isForCompensation|isCollection|isClosed)\s*=\s*(?!["'](?:true|false)["'])["']([^"']{0,20})/g;

/**
 * Refuses text that no XML parser should be given: too large or nested too deeply, with a document type (entities), or with
 * flags that the reader would silently take for false.
 * @returns whether the text may be parsed
 */
export function mayBeParsed(xml: string, limits: XmlLimits, problems: Problems): boolean {
  if (Buffer.byteLength(xml) > limits.maxBytes) {
    problems.error('FILE_TOO_LARGE', null, `A BPMN file has at most ${limits.maxBytes} bytes.`);
    return false;
  }
  const content = xml.replace(NOT_CONTENT, ' ');
  if (/<!/.test(content)) {
    problems.error(
      'DOCUMENT_TYPE',
      null,
      'A BPMN file has no document type and no entities: take the <!…> out.',
    );
    return false;
  }
  if (content.split('xmlns').length > MAX_NAMESPACES || depthOf(content) > MAX_DEPTH) {
    problems.error('FILE_TOO_COMPLEX', null, 'The file nests too deeply or declares too many namespaces.');
    return false;
  }
  for (const [, name, value] of content.matchAll(BOOLEANS)) {
    problems.error('INVALID_VALUE', null, `${name} is "true" or "false", not "${value}".`);
  }
  return true;
}

/** The deepest nesting of tags; broken markup is the parser's to report. */
function depthOf(content: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [tag] of content.matchAll(TAG)) {
    if (tag.startsWith('</')) {
      depth -= 1;
    } else if (!tag.endsWith('/>')) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    }
  }
  return deepest;
}
