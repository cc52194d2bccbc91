import { hash } from 'node:crypto';
import { writePath, parsePath, getPath, type DataPath } from '#engine/paths';
import type { JsonObject } from '#engine/json';

/** What instances are searched for: a value of their data. */
export interface SearchTerm {
  /** As the definition has it. */
  path: string;
  /** Text, or a number or boolean as JSON writes it. */
  value: string;
}

/** A member of the data by which an instance is found, and its new value. */
export interface SearchChange {
  /** Position in the `searchable` of the definition. */
  member: number;
  /** See `termHash`; null where there is nothing to find it by. */
  term: string | null;
}

/** Longest value, in characters. */
export const MAX_SEARCH_VALUE = 255;
/** Terms of one search. */
export const MAX_SEARCH_TERMS = 4;

const NAME = '[^.:[\\]"\'\\s][^.:[\\]"\']*';
const INNER = '\\[(?:\\d{1,4}|"[^"]+"|\'[^\']+\')\\]';
/** Longest path and value, in characters: twice as much as of a value alone, and the colon. */
export const MAX_SEARCH_TERM = 2 * MAX_SEARCH_VALUE + 1;
/** The first colon outside of brackets ends the path. */
export const SEARCH_TERM_PATTERN = `^((?:${NAME}|${INNER})(?:\\.${NAME}|${INNER})*):([\\s\\S]{1,${MAX_SEARCH_VALUE}})$`;
const SEARCH_TERM = new RegExp(SEARCH_TERM_PATTERN, 'u');

/** Reads `client.id:4711`; undefined when it is something else. */
export function readSearchTerm(text: string): SearchTerm | undefined {
  const [, path, value] = SEARCH_TERM.exec(text) ?? [];
  if (path === undefined || value === undefined) {
    return undefined;
  }
  try {
    return { path: writePath(parsePath(path)), value };
  } catch {
    return undefined;
  }
}

/** A value as it is searched for; undefined for what nobody searches for: objects, lists, null, nothing, empty and long texts. */
export function searchedText(value: unknown): string | undefined {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const text = isPlain ? String(value) : '';
  // Half of a surrogate pair counts as a character.
  const isShort =
    text.length <= MAX_SEARCH_VALUE ||
    (text.length <= 2 * MAX_SEARCH_VALUE && [...text].length <= MAX_SEARCH_VALUE);
  return text !== '' && isShort ? text : undefined;
}

/**
 * Names path and value in a column that is compared: of one length and the same on all databases, whatever they hold equal.
 * @returns a SHA-256, hexadecimal
 */
export function termHash({ path, value }: SearchTerm): string {
  return hash('sha256', JSON.stringify([path, value]));
}

/** The data by which instances of a definition are found. */
export class SearchableData {
  private readonly members: readonly { path: string; steps: DataPath }[];

  constructor(paths: readonly string[]) {
    this.members = paths.map((path) => ({ path, steps: parsePath(path) }));
  }

  /** What a step has changed of it. @param before null where nothing is stored yet */
  changes(before: JsonObject | null, after: JsonObject): SearchChange[] {
    return this.members.flatMap(({ path, steps }, member) => {
      const value = searchedText(getPath(after, steps));
      if (value === searchedText(getPath(before, steps))) {
        return [];
      }
      return [{ member, term: value === undefined ? null : termHash({ path, value }) }];
    });
  }
}
