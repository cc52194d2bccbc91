import { readFile, stat } from 'node:fs/promises';
import { pathText } from './mistakes.js';

/** Groups: what is referred to, by which name. `$${` stands for `${` itself. */
const REFERENCE = /\$\$\{|\$\{(?:(env|file):([^}]*))?[^}]*\}?/g;
const MAX_DEPTH = 16;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What references may read. */
export interface ReferenceReader {
  /** @returns undefined when there is no such variable */
  variable(name: string): string | undefined;
  /** @throws Error when the file cannot be read or is too large */
  file(path: string): Promise<string>;
}

/** Values with every `${env:NAME}` and `${file:PATH}` replaced, and where that was not possible. */
export interface Resolved {
  value: unknown;
  /** Sentences with the path of a value, never the value or what it refers to. */
  mistakes: string[];
}

/** Replaces the references in all texts of a document. @param path of the value itself, for mistakes */
export async function resolveReferences(
  value: unknown,
  reader: ReferenceReader,
  path: readonly PropertyKey[],
): Promise<Resolved> {
  if (typeof value === 'string') {
    return resolveText(value, reader, path);
  }
  if (typeof value !== 'object' || value === null) {
    return { value, mistakes: [] };
  }
  if (path.length > MAX_DEPTH) {
    return { value: null, mistakes: [`${pathText(path)} is nested too deep`] };
  }
  const mistakes: string[] = [];
  const entries: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(name) : name];
    const resolved = await resolveReferences(member, reader, at);
    entries.push([name, resolved.value]);
    mistakes.push(...resolved.mistakes);
  }
  return {
    value: Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries),
    mistakes,
  };
}

async function resolveText(
  text: string,
  reader: ReferenceReader,
  path: readonly PropertyKey[],
): Promise<Resolved> {
  const parts: string[] = [];
  let end = 0;
  try {
    for (const match of text.matchAll(REFERENCE)) {
      parts.push(text.slice(end, match.index), await target(match, reader));
      end = match.index + match[0].length;
    }
  } catch (error) {
    if (error instanceof UnresolvedError) {
      return { value: null, mistakes: [`${pathText(path)} ${error.message}`] };
    }
    throw error;
  }
  return { value: [...parts, text.slice(end)].join(''), mistakes: [] };
}

async function target([whole, scheme, name = '']: RegExpExecArray, reader: ReferenceReader): Promise<string> {
  if (whole === '$${') {
    return '${';
  }
  if (scheme === 'file' && name !== '') {
    return fileText(name, reader);
  }
  if (scheme !== 'env' || !VARIABLE.test(name)) {
    throw new UnresolvedError('must refer to a value as ${env:NAME} or ${file:PATH}; $${ stands for ${');
  }
  const value = reader.variable(name);
  if (value === undefined) {
    throw new UnresolvedError('refers to a variable of the environment that is not set');
  }
  return value;
}

async function fileText(path: string, reader: ReferenceReader): Promise<string> {
  try {
    // Editors and `echo` end a file with a line break that is no part of a password.
    return (await reader.file(path)).replace(/\r?\n$/, '');
  } catch {
    throw new UnresolvedError('refers to a file that cannot be read or is too large');
  }
}

/** A reference that leads nowhere. The message is a fixed sentence. */
class UnresolvedError extends Error {}

/**
 * The text of a file of bounded size. Pipes and devices are refused: they may never end.
 * @throws Error when it cannot be read, FileTooLargeError when it is longer than `maxBytes`
 */
export async function readBounded(path: string, maxBytes: number, signal: AbortSignal): Promise<string> {
  const status = await stat(path);
  if (!status.isFile()) {
    throw new Error('not a file');
  }
  if (status.size > maxBytes) {
    throw new FileTooLargeError();
  }
  return readFile(path, { encoding: 'utf8', signal });
}

/** A file is larger than a setting allows. */
export class FileTooLargeError extends Error {}
