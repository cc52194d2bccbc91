import { closestMatch } from 'leven';
import { NOT_CONTENT, tagsIn } from './xml-guard.js';

/** Longest part of an opening tag that a message quotes. */
const QUOTED_LENGTH = 200;
/** Maximum edit distance between a misspelt closing tag and its opening tag. */
const MAX_DIFFERENCE = 2;

interface OpenTag {
  name: string;
  at: number;
}

/**
 * Describes the first tag mismatch of a text: an element that is not closed, or a closing tag without an opening one.
 * @param xml any text that `mayBeParsed` accepts
 * @returns a sentence that names the tag, such as `An element before it is not closed: <bpmn:task id="a"> (line 12)`
 */
export function tagFault(xml: string): string {
  // Blanks of equal length keep the positions.
  const content = xml.replaceAll(NOT_CONTENT, (passed) => ' '.repeat(passed.length));
  const describeTag = (tag: OpenTag): string => `${tagOf(content, tag)} (line ${lineOf(xml, tag.at)})`;
  const { open, closing } = findMismatch(content);
  const last = open.at(-1);
  const unclosed = `An element before it is not closed${last === undefined ? '' : `: ${describeTag(last)}`}`;
  if (closing === undefined || open.some(({ name }) => name === closing.name)) {
    return unclosed;
  }
  const tag = `</${closing.name}> (line ${lineOf(xml, closing.at)})`;
  if (last === undefined || !isNear(closing.name, last.name)) {
    return `Nothing opens ${tag}`;
  }
  const isCase = closing.name.toLowerCase() === last.name.toLowerCase();
  return isCase ? `${tag} differs in case from what it closes. ${unclosed}` : unclosed;
}

function isNear(closing: string, opening: string): boolean {
  return closestMatch(closing, [opening], { maxDistance: MAX_DIFFERENCE }) !== undefined;
}

/** Returns the elements open at the first mismatched closing tag, or at the end of the text. */
function findMismatch(content: string): { open: OpenTag[]; closing?: OpenTag } {
  const open: OpenTag[] = [];
  for (const { at, end } of tagsIn(content)) {
    const [, slash, name = ''] = /^(\/?)([^\s/>]*)/.exec(content.slice(at + 1, at + QUOTED_LENGTH)) ?? [];
    if (slash === '') {
      // A tag without a closing ">" counts as open.
      if (content[end - 1] !== '/') {
        open.push({ name, at });
      }
    } else if (end !== -1 && open.at(-1)?.name === name) {
      open.pop();
    } else {
      return end === -1 ? { open } : { open, closing: { name, at } };
    }
  }
  return { open };
}

function lineOf(xml: string, at: number): number {
  return xml.slice(0, at).split('\n').length;
}

function tagOf(content: string, { name, at }: OpenTag): string {
  const tag = content.slice(at, at + QUOTED_LENGTH).split('>')[0] ?? '';
  const id = /\sid\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/.exec(tag);
  return id === null ? `<${name}>` : `<${name} id="${id[1] ?? id[2] ?? ''}">`;
}
