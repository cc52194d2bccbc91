import { NOT_CONTENT, tagsIn } from './xml-guard.js';

/** Longest part of an opening tag that a message quotes. */
const QUOTED_LENGTH = 200;

/**
 * The innermost element that is open where the tags of a text do not fit any more, or where it ends: the one that is not closed.
 * @param xml may be anything that `mayBeParsed` lets through
 * @returns how a message names it, such as `<bpmn:task id="a"> (line 12)`; undefined when every element is closed
 */
export function unclosedElement(xml: string): string | undefined {
  // Of equal length, so that places stay what they are.
  const content = xml.replaceAll(NOT_CONTENT, (passed) => ' '.repeat(passed.length));
  const open: { name: string; at: number }[] = [];
  for (const { at, end } of tagsIn(content)) {
    const [, slash, name = ''] = /^(\/?)([^\s/>]*)/.exec(content.slice(at + 1, at + QUOTED_LENGTH)) ?? [];
    if (slash === '') {
      // One that no ">" ends is open too.
      if (content[end - 1] !== '/') {
        open.push({ name, at });
      }
    } else if (end !== -1 && open.at(-1)?.name === name) {
      open.pop();
    } else {
      break;
    }
  }
  const last = open.at(-1);
  return last && `${tagOf(content, last)} (line ${xml.slice(0, last.at).split('\n').length})`;
}

function tagOf(content: string, { name, at }: { name: string; at: number }): string {
  const tag = content.slice(at, at + QUOTED_LENGTH).split('>')[0] ?? '';
  const id = /\sid\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/.exec(tag);
  return id === null ? `<${name}>` : `<${name} id="${id[1] ?? id[2] ?? ''}">`;
}
