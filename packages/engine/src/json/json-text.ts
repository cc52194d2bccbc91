import { BACKSLASH } from './json-bytes.js';

/** Returns the index of the quotation mark that closes the string starting at `start`. */
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

export function membersText(value: object): Record<string, string> {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, JSON.stringify(member)]));
}

/** Writes a JSON object from members that are already JSON text. */
export function objectText(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',')}}`;
}
