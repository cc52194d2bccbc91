import { BACKSLASH, COMMA, LIST, LIST_END, OBJECT, OBJECT_END, QUOTE } from './json-bytes.js';
import type { Steps } from './turns.js';

const CHARACTERS_AT_ONCE = 65_536;

/** @returns index of the quotation mark that closes the string of a JSON text whose first one is at `start` */
export function endOfString(json: string, start: number): number {
  let at = json.indexOf('"', start + 1);
  while (isEscaped(json, at)) {
    at = json.indexOf('"', at + 1);
  }
  return at;
}

function isEscaped(json: string, at: number): boolean {
  let first = at;
  while (json.charCodeAt(first - 1) === BACKSLASH) {
    first -= 1;
  }
  return (at - first) % 2 === 1;
}

/**
 * The items of a list, or the members of an object, as they stand in a JSON text.
 * @param json of a list or object, without blanks between its parts, as `JSON.stringify` writes it
 */
export function* partsOf(json: string): Steps<string[]> {
  const parts: string[] = [];
  let depth = 0;
  let begin = 1;
  let pause = CHARACTERS_AT_ONCE;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    depth += depthOf(code);
    if (code === QUOTE) {
      at = endOfString(json, at);
    } else if ((depth === 1 && code === COMMA) || (depth === 0 && at > begin)) {
      parts.push(json.slice(begin, at));
      begin = at + 1;
    }
    if (at >= pause) {
      yield;
      pause = at + CHARACTERS_AT_ONCE;
    }
  }
  return parts;
}

function depthOf(code: number): number {
  if (code === LIST || code === OBJECT) {
    return 1;
  }
  return code === LIST_END || code === OBJECT_END ? -1 : 0;
}

/** The members of an object by their names, each as it stands in a JSON text such as {@link partsOf} takes. */
export function* membersOf(json: string): Steps<Map<string, string>> {
  const members = new Map<string, string>();
  for (const part of yield* partsOf(json)) {
    const end = endOfString(part, 0);
    members.set(JSON.parse(part.slice(0, end + 1)) as string, part.slice(end + 2));
  }
  return members;
}

/** The JSON of each member of an object. */
export function membersText(value: object): Record<string, string> {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, JSON.stringify(member)]));
}

/** An object whose members are JSON texts already. */
export function objectText(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',')}}`;
}
