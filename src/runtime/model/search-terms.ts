import { hash } from 'node:crypto';
import { writePath, parsePath, getPath, type DataPath } from '#engine/paths';
import type { JsonObject } from '#engine/json';

/** Data path and value to search instances by. */
export interface SearchTerm {
  /** As written in the definition. */
  path: string;
  /** Text, or a number or boolean in JSON notation. */
  value: string;
}

/** New value of a searchable data path. */
export interface SearchChange {
  /** Index in the `searchable` list of the definition. */
  member: number;
  /** Result of `termHash`; null if there is no searchable value. */
  term: string | null;
}

/** Maximum length of a value in characters. */
export const MAX_SEARCH_VALUE = 255;
/** Maximum number of terms in one search. */
export const MAX_SEARCH_TERMS = 4;

const NAME = '[^.:[\\]"\'\\s][^.:[\\]"\']*';
const INNER = '\\[(?:\\d{1,4}|"[^"]+"|\'[^\']+\')\\]';
/** Maximum length of a term in characters: path, colon and value. */
export const MAX_SEARCH_TERM = 2 * MAX_SEARCH_VALUE + 1;
/** Pattern of a search term. The first colon outside brackets ends the path. */
export const SEARCH_TERM_PATTERN = `^((?:${NAME}|${INNER})(?:\\.${NAME}|${INNER})*):([\\s\\S]{1,${MAX_SEARCH_VALUE}})$`;
const SEARCH_TERM = new RegExp(SEARCH_TERM_PATTERN, 'u');

/** Parses a term such as `client.id:4711`; returns undefined for an invalid one. */
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

/** Returns a value as search text; undefined for objects, lists, null, and empty or too long texts. */
export function toSearchText(value: unknown): string | undefined {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const text = isPlain ? String(value) : '';
  // Surrogate pairs count as one character, so the exact length matters only between one and two times the limit.
  const isShort =
    text.length <= MAX_SEARCH_VALUE ||
    (text.length <= 2 * MAX_SEARCH_VALUE && [...text].length <= MAX_SEARCH_VALUE);
  return text !== '' && isShort ? text : undefined;
}

/**
 * Hashes path and value for an indexed column: fixed length, and independent of database collations.
 * @returns a SHA-256 in hexadecimal
 */
export function termHash({ path, value }: SearchTerm): string {
  return hash('sha256', JSON.stringify([path, value]));
}

/** Searchable data paths of a definition. */
export class SearchableData {
  private readonly members: readonly { path: string; steps: DataPath }[];

  constructor(paths: readonly string[]) {
    this.members = paths.map((path) => ({ path, steps: parsePath(path) }));
  }

  /** Returns the searchable values that a step has changed. @param before null for new instances */
  changes(before: JsonObject | null, after: JsonObject): SearchChange[] {
    return this.members.flatMap(({ path, steps }, member) => {
      const value = toSearchText(getPath(after, steps));
      if (value === toSearchText(getPath(before, steps))) {
        return [];
      }
      return [{ member, term: value === undefined ? null : termHash({ path, value }) }];
    });
  }
}
